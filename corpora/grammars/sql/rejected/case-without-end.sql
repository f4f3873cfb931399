select case when a then b from t;
