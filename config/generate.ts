import { readFileSync, writeFileSync } from "node:fs";
import { configFileSchema } from "#config/schema.ts";

/**
 * Writes `config/schema.json`, which editors use to complete and check the configuration file, from the program's schema.
 * `node config/generate.ts --check` only checks whether it is up to date.
 */
const path = new URL("schema.json", import.meta.url);

export function schemaFile(): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of Parley",
    ...(JSON.parse(JSON.stringify(configFileSchema)) as object),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) {
  if (!process.argv.includes("--check")) {
    writeFileSync(path, schemaFile());
    console.log("wrote config/schema.json");
  } else if (readFileSync(path, "utf8") !== schemaFile()) {
    console.error("config/schema.json is not that of src/config/file.ts; run: node config/generate.ts");
    process.exitCode = 1;
  }
}
