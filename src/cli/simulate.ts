import { simulate } from "./simulate-run.ts";
import { messageOf } from "./tool.ts";

/** `npm run simulate`: the production core under a virtual clock. Exit code 1 when something does not hold. */

try {
  const { text, exitCode } = simulate(process.argv.slice(2));
  console.log(text);
  process.exitCode = exitCode;
} catch (error) {
  console.error(`headgate: ${messageOf(error)}`);
  process.exitCode = 1;
}
