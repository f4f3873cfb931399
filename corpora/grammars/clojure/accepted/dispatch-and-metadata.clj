#!/usr/bin/env clojure
'a `(b ~c ~@d) @e #'f #=(+ 1 2) #(inc %) ^:k x ^{:a 1} [y] ^String z ^"[B" b #^Old o ^#?(:clj A :cljs B) q
#inst "2020-01-01" #uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" #my.ns/tag {:a 1} #my.Record[1 2] #js {:a 1}
#?(:clj 1 :cljs 2 :default 3) [#?@(:clj [1 2] #_none)] #?() {#?@(:cljs [:a 1]) :b 2}
; a comment
