// A case that exploring found, as a test to paste beside the property that failed: the property's own check, called with the
// smallest values that break it.
import ts from "typescript";

/** Writes the test; `source` = text of the test file, `found` = what test/helpers/seed.ts wrote down. */
export function readyTest(source, { test, seed, path, values }) {
  const name = String(test).split(" > ").at(-1);
  const checks = checksOf(source, name);
  const title = JSON.stringify(`${name}: found with seed ${seed}`);
  if (checks.length !== 1)
    return `// In ${JSON.stringify(name)}, give fc.assert these options, and keep the values as a test of their own:\n// { seed: ${seed}, path: ${JSON.stringify(path)} }   values: ${values.join(", ")}\n`;
  return `it(${title}, async () => {\n  const check = ${checks[0]};\n  expect(await check(${values.join(", ")})).not.toBe(false);\n});\n`;
}

/** The checks of the properties in the test of that name, in file order. */
function checksOf(source, name) {
  const file = ts.createSourceFile("found.test.ts", source, ts.ScriptTarget.Latest, true);
  const checks = [];
  const visit = (node, isInside) => {
    const here = isInside || isTestNamed(node, name);
    if (here && ts.isCallExpression(node) && /^fc\.(asyncProperty|property)$/.test(node.expression.getText(file)))
      checks.push(node.arguments.at(-1)?.getText(file));
    ts.forEachChild(node, (child) => visit(child, here));
  };
  visit(file, false);
  return checks;
}

function isTestNamed(node, name) {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return false;
  const [title] = node.arguments;
  return (
    ["it", "test"].includes(node.expression.text) &&
    title !== undefined &&
    ts.isStringLiteralLike(title) &&
    title.text === name
  );
}
