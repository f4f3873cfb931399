a a-b a_b a' a# *out* -> ->> + - / clojure.core// ns.x/y a:b %1 %& & &env .method Class. .. $ <= nil? -x +' -' été
:a :a/b ::c ::al/d :1 :a.b/c-d :+ :/ :a:b :x' :when
let fn if def truest
