// The URLs of text files (package.json, README.md, ...), one a file: node url.js OUT FILE...
// A URL is what follows a scheme and two slashes, until a character that no URL has or that ends one in prose. Equal ones are
// written once, and those that `new URL` refuses are not written.
const fs = require("fs");
const path = require("path");

const [out, ...files] = process.argv.slice(2);
const seen = new Set();
fs.mkdirSync(out, { recursive: true });
for (const file of files) {
  for (const [found] of fs.readFileSync(file, "utf8").matchAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>`\\]+/gi)) {
    const url = found.replace(/[)\]*.,;:!?]+$/, "");
    if (seen.has(url) || !URL.canParse(url)) continue;
    seen.add(url);
    fs.writeFileSync(path.join(out, `${seen.size}.url`), url);
  }
}
