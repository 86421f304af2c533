// Prints the page's types, given the path of the server's OpenAPI document: a type for each schema, and one line for each
// operation with the types of its body and its answer.

import { readFile } from "node:fs/promises";
import process from "node:process";

import openapiTS, { astToString } from "openapi-typescript";

const METHODS = ["get", "post", "put", "patch", "delete"];

const document = JSON.parse(await readFile(process.argv[2], "utf8"));
// Paths and operations would be written out with every parameter and refusal, which the page has no use for.
const schemas = await openapiTS(
  { ...document, paths: {} },
  { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false },
);
process.stdout.write("// Written by scripts/api-types from the server's OpenAPI document. Do not edit.\n\n");
process.stdout.write(withoutEmpty(astToString(schemas)));
process.stdout.write(operations());

/** Leaves out the empty declarations that the generator writes for the parts without content. */
function withoutEmpty(types) {
  return types
    .replaceAll(/^export (interface|type) (paths|webhooks|operations|\$defs)( =)? (\{\n?\}|Record<string, never>);?\n/gm, "")
    .replaceAll(/^ {4}(responses|parameters|requestBodies|headers|pathItems): never;\n/gm, "");
}

function operations() {
  const lines = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((method) => method in item)) {
      const { requestBody, responses } = item[method];
      const good = Object.entries(responses).find(([status]) => status.startsWith("2"));
      if (good === undefined) continue;
      const body = jsonType(requestBody);
      lines.push(
        `    "${method.toUpperCase()} ${path}": { body: ${body}; answer: ${jsonType(good[1])} };\n`,
      );
    }
  }
  return `\n/** The body and the answer of each operation. */\nexport interface Operations {\n${lines.join("")}}\n`;
}

/** The type of a JSON body; other bodies are `unknown`, and none is `undefined`. */
function jsonType(described) {
  if (described?.content === undefined) return "undefined";
  const reference = described.content["application/json"]?.schema?.$ref;
  return reference === undefined ? "unknown" : reference.split("/").at(-1);
}
