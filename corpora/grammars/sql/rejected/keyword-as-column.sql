select select from t;
