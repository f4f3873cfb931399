select a from t order by a where b;
