/**
 * The program as one file with the code that V8 made of it: tests start it
 * many times, and most of a start is finding, opening and compiling modules.
 * Made again whenever a module is newer than the bundle.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
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

/**
 * Runs the program with the code that an earlier run left; with `KEEP_CODE` it leaves that of this run. A script with
 * kept code cannot import by itself.
 */
const launcher = `'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const filename = require('node:path').join(__dirname, 'program.cjs')
const kept = filename + '.code'
const keeps = process.env.KEEP_CODE !== undefined
const options = keeps ? { filename } : { filename, cachedData: readFileSync(kept) }
const script = new (require('node:vm').Script)(readFileSync(filename, 'utf8'), options)
if (keeps) process.on('exit', () => writeFileSync(kept, script.createCachedData()))
script.runInThisContext()(require, __filename, (module) => import(module))
`
const opening = `(function (require, __filename, __import) {
'use strict'
const module = { exports: {} }
const __url = require('node:url').pathToFileURL(__filename).href
`

/** One life of a daemon: what it needed is what later starts need. */
const keepCode = async (main: string): Promise<void> => {
  const root = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  const daemon = spawn(process.execPath, [main, 'serve', '--bind', '127.0.0.1:0', '--state-root', root], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: root, KEEP_CODE: '' },
  })
  daemon.stdout.once('data', () => daemon.kill('SIGTERM'))
  await new Promise((resolve) => daemon.once('close', resolve))
  await rm(root, { recursive: true, force: true })
}

/** Packages that a plain start does not load stay where they are. */
const external = ['@ai-sdk/openai-compatible', 'undici']

const makeBundle = async (folder: string): Promise<void> => {
  const { build } = await import('esbuild')
  await mkdir(bundles, { recursive: true })
  const draft = await mkdtemp(`${folder}.`)
  const { outputFiles } = await build({
    entryPoints: [path.join(dist, 'core/main.js')],
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external,
    define: { 'import.meta.url': '__url' },
    banner: { js: opening },
    footer: { js: '})' },
    logLevel: 'error',
  })
  const program = outputFiles.map(({ text }) => text.replaceAll(/\bimport\(/gu, '__import(')).join('')
  await writeFile(path.join(draft, 'program.cjs'), program)
  const main = path.join(draft, 'main.cjs')
  await writeFile(main, launcher)
  await keepCode(main)
  await chmod(draft, 0o755)
  // Another test process may have been first: its bundle is the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}

/** The path of the program's main file in a bundle of the modules as they are now. */
export const bundledMain = async (): Promise<string> => {
  const folder = path.join(bundles, String(newestModule()))
  const main = path.join(folder, 'main.cjs')
  if (!exists(main)) await makeBundle(folder)
  return main
}
