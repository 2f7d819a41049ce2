/**
 * The program as few files instead of hundreds: tests start it many times,
 * and half of a start is finding and opening modules. Made again whenever a
 * module is newer than the bundle.
 */
import { readdirSync, statSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'

const dist = path.resolve(import.meta.dirname, '../..')
const bundles = path.join(dist, 'bundle')

const newestModule = (): number => {
  const files = ['core', 'plugins'].flatMap((folder) =>
    readdirSync(path.join(dist, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => path.join(dist, folder, name)),
  )
  return Math.max(...files.map((file) => Math.floor(statSync(file).mtimeMs)))
}

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

const makeBundle = async (folder: string): Promise<void> => {
  const { build } = await import('esbuild')
  const draft = `${folder}.${process.pid}`
  await mkdir(bundles, { recursive: true })
  await build({
    entryPoints: [path.join(dist, 'core/main.js')],
    outdir: draft,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
  })
  // Another test process may have been first: its bundle is the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}

/** The path of the program's main file in a bundle of the modules as they are now. */
export const bundledMain = async (): Promise<string> => {
  const folder = path.join(bundles, String(newestModule()))
  const main = path.join(folder, 'main.js')
  if (!exists(main)) await makeBundle(folder)
  return main
}
