import { defineConfig } from 'vite';

export default defineConfig({
  build: { outDir: 'out', target: 'es2022', modulePreload: false, assetsInlineLimit: 1 << 20, cssCodeSplit: false, reportCompressedSize: false, sourcemap: false },
});
