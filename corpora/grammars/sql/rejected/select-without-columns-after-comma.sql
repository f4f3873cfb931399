select , a from t;
