import { defineConfig } from 'vitest/config'

// The page is served by Mooring itself, beside /api. While it is being written, `npm run dev` passes /api on.
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: 'dist', assetsInlineLimit: 0, target: 'es2022' },
  server: { proxy: { '/api': process.env['MOORING_API'] ?? 'http://127.0.0.1:8001' } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
})
