import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// The pages: three entries under src/web, built into dist/web, which the Worker serves as static assets. Everything that
// a page needs is a file of its own under /assets, named by its content: the pages' policy allows nothing inline and
// nothing of another host.

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at("./src/web"),
  base: "/",
  publicDir: false,
  // Also where a test builds: what is measured and looked at there is what is deployed.
  mode: "production",
  oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
  build: {
    outDir: at("./dist/web"),
    emptyOutDir: true,
    target: "es2023",
    // The first of each that know light-dark(): theme.css goes by it.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: {
        dashboard: at("./src/web/dashboard/index.html"),
        explorer: at("./src/web/explorer/index.html"),
        docs: at("./src/web/docs/index.html"),
      },
    },
  },
});
