// Runs the scenario `server-stateless` against the product. Some of its checks call diagnostic tools that only a fixture
// has; the suite marks them as untestable. Every other check must pass.
//
//   node stateless.js SUITE ADDRESS FOLDER
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";

const [suite, address, folder] = process.argv.slice(2);
const args = [suite, "server", "--url", address, "--scenario", "server-stateless", "-o", folder];
spawnSync(process.execPath, args, { stdio: "inherit" });

const [file] = globSync(`${folder}/*server-stateless*/checks.json`);
const checks = JSON.parse(readFileSync(file, "utf8"));
const failed = checks.filter((check) => check.status === "FAILURE");
const broken = failed.filter((check) => check.details?.untestable !== true);
console.log(`${checks.length} checks, ${failed.length - broken.length} untestable, ${broken.length} broken`);
process.exit(broken.length === 0 && checks.length > 20 ? 0 : 1);
