import { buildBrowserCode } from "#web/build.ts";
import { bundleServer } from "./server.ts";

/** Writes what browsers load and the bundled server to `dist/`. Needs esbuild, a development dependency. */
try {
  const [browserCode] = await Promise.all([buildBrowserCode(), bundleServer()]);
  for (const { file, bytes, gzipBytes } of browserCode) {
    console.log(`dist/${file}: ${bytes} bytes, ${gzipBytes} compressed`);
  }
} catch (error) {
  const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (!isMissing) throw error;
  console.log("esbuild is not installed; dist/ is used as it is");
}
