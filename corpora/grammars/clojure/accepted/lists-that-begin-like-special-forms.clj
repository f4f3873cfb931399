(let) '(fn x) (defn) (if) `(let [~@bindings] ~@body) (try-it) (let-me [a 1]) (def #?(:clj a) 1) (let x) (catch e) (defn-x [a] b)
(defn f [def do case] (ns if)) `(let [x# ~v] x#) (for-all [a]) (:ns binding) (deftype X) (cond-> a) (fn [new try] try) (& a)
