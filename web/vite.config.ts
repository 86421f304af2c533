import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:7878";

/** Adds Swagger UI, which the server shows at /api/docs, to the files that are embedded into the binary. */
function swaggerUi(): Plugin {
  return {
    name: "swagger-ui",
    generateBundle() {
      const { resolve } = createRequire(import.meta.url);
      for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"]) {
        const source = gzipSync(readFileSync(resolve(`swagger-ui-dist/${name}`)), { level: 9 });
        this.emitFile({ type: "asset", fileName: `swagger-ui/${name}.gz`, source });
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), swaggerUi()],
  build: {
    // noVNC waits at the top of a module for what the browser can decode.
    target: "es2022",
    // Files are embedded into the binary: fewer and plain, without maps.
    sourcemap: false,
  },
  server: {
    proxy: {
      "/api": {
        target: server,
        ws: true,
        // The server takes a cookie only from its own page, which here is the proxy's target.
        headers: { origin: server },
        changeOrigin: true,
      },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testSetup.ts"],
    restoreMocks: true,
    // On a busy machine, tests take many times as long as usual.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // All files share one environment, which takes longer to prepare than most tests. So each file cleans up after
    // itself.
    isolate: false,
    // By default one core is left idle.
    maxWorkers: "100%",
  },
});
