std = "lua54"
max_line_length = 120
ignore = { "581" } -- `not (x <= y)` is no `x > y` when x is NaN
files["spec"] = { std = "+busted" }
