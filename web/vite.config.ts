import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const OUT = "../src/headgate/app/static";

/** Lays a packed copy beside each asset, so that the server need not pack any. */
function packed(): Plugin {
  return {
    name: "packed-assets",
    apply: "build",
    closeBundle() {
      const folder = join(OUT, "assets");
      for (const name of readdirSync(folder)) {
        if (/\.(js|css|svg)$/.test(name)) {
          const path = join(folder, name);
          writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        }
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), packed()],
  logLevel: "warn",
  build: { outDir: OUT, emptyOutDir: true, assetsInlineLimit: 0, target: "es2022" },
  server: {
    // A running `headgate serve`; it is asked under its own name.
    proxy: Object.fromEntries(
      ["/api", "/login/link", "/healthz", "/readyz"].map((path) => [
        path,
        { target: process.env.HEADGATE_URL ?? "http://127.0.0.1:8470", changeOrigin: true },
      ]),
    ),
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    isolate: false, // one window for all files: starting one takes longer than most tests
  },
});
