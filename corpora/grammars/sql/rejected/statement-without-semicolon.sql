select 1 from t select 2 from t;
