selecta from t;
