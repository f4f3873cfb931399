0 -0 +7 42 42N 017 0x1F -0xffN 2r1010 36rZZ 1/2 -22/7 1. 1.5 -1.5e10 1e3 1E-3M 2.5M 3M ##Inf ##-Inf ##NaN
\a \newline \space \tab \return \backspace \formfeed \u00e9 \o101 \( \\ \" \;
"" "text" "a \"quoted\" \\ \t\n\u0041\101 word
over two lines" #"\d+\.\"[a-z]*" nil true false
