select a where b from t;
