// The regular expressions of JavaScript files, one pattern a file: node regex.js OUT FILE...
// Needs the package acorn. Patterns with the flag v go to OUT/v, the others to OUT/plain; equal ones are written once.
const acorn = require("acorn");
const fs = require("fs");
const path = require("path");

const [out, ...files] = process.argv.slice(2);
const seen = new Set();
for (const file of files) {
  const onToken = (token) => {
    if (token.type.label !== "regexp") return;
    const { pattern, flags } = token.value;
    const kind = flags.includes("v") ? "v" : "plain";
    if (seen.has(kind + pattern)) return;
    seen.add(kind + pattern);
    fs.mkdirSync(path.join(out, kind), { recursive: true });
    fs.writeFileSync(path.join(out, kind, `${seen.size}.regex`), pattern);
  };
  for (const sourceType of ["module", "script"]) {
    try {
      acorn.parse(fs.readFileSync(file, "utf8"), { ecmaVersion: "latest", sourceType, allowHashBang: true, onToken });
      break;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}
