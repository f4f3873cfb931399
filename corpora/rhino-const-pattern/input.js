// What is left of a shopping list.
var stock = { apples: 3, pears: 0, plums: 12 };

function missing(items, least) {
  var found = [];
  for (var name in items) {
    if (items[name] < least) found.push(name);
  }
  return found;
}

var list = missing(stock, 5);
const [apple, apple] = [list.length, "pears"];
print(list.join(", ") + " (" + list.length + ")");
