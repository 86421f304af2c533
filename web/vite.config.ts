import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:7878";

export default defineConfig({
  plugins: [react(), tailwindcss()],
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
    restoreMocks: true,
  },
});
