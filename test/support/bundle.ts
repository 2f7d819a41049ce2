/**
 * The program as one file with the code that V8 made of it: tests start it
 * many times, and most of a start is finding, opening and compiling modules.
 * Beside it what else tests need many times and is slow to make: the OpenAPI
 * document, and the process that wants a lock. Made again whenever a module is
 * newer than the bundle.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const dist = path.resolve(import.meta.dirname, '../..')
const bundles = path.join(dist, 'bundle')

const newestModule = (): number => {
  const files = ['core', 'plugins', 'test/support'].flatMap((folder) =>
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

/** One life of a daemon: what it needed is what later starts need. Returns its OpenAPI document. */
const keepCode = async (main: string): Promise<string> => {
  const root = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  const daemon = spawn(process.execPath, [main, 'serve', '--bind', '127.0.0.1:0', '--state-root', root], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: root, KEEP_CODE: '' },
  })
  let document = ''
  daemon.stdout.once('data', (line: Buffer) => {
    const [url = ''] = /http:\/\/[^,\s]+/u.exec(String(line)) ?? []
    void fetch(`${url}/v1/openapi.json`)
      .then(async (answer) => {
        document = await answer.text()
      })
      .finally(() => daemon.kill('SIGTERM'))
  })
  await new Promise((resolve) => daemon.once('close', resolve))
  await rm(root, { recursive: true, force: true })
  return document
}

/** Packages that a plain start does not load stay where they are. */
const external = ['undici']

const usual = { bundle: true, platform: 'node', target: 'node20', logLevel: 'error' } as const

const programOf = async (): Promise<string> => {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    ...usual,
    entryPoints: [path.join(dist, 'core/main.js')],
    write: false,
    format: 'cjs',
    external,
    define: { 'import.meta.url': '__url' },
    banner: { js: opening },
    footer: { js: '})' },
  })
  return outputFiles.map(({ text }) => text.replaceAll(/\bimport\(/gu, '__import(')).join('')
}

/** What modules of the older kind expect. */
const moduleOpening = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url), __filename = import.meta.filename`

const writeLockChild = async (outfile: string): Promise<void> => {
  const { build } = await import('esbuild')
  await build({
    ...usual,
    entryPoints: [path.join(dist, 'test/support/lock-child.js')],
    outfile,
    format: 'esm',
    banner: { js: moduleOpening },
  })
}

const makeBundle = async (folder: string): Promise<void> => {
  await mkdir(bundles, { recursive: true })
  const draft = await mkdtemp(`${folder}.`)
  const { main, openapi, validators, lockChild } = partsOf(draft)
  await writeFile(path.join(draft, 'program.cjs'), await programOf())
  await writeFile(main, launcher)
  const document = await keepCode(main)
  await writeFile(openapi, document)
  const { codeOfAnswers } = await import('./validators.js')
  await writeFile(validators, codeOfAnswers(JSON.parse(document)))
  await writeLockChild(lockChild)
  await chmod(draft, 0o755)
  // Another test process may have been first: its bundle is the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}

const partsOf = (folder: string) => ({
  main: path.join(folder, 'main.cjs'),
  openapi: path.join(folder, 'openapi.json'),
  validators: path.join(folder, 'validators.cjs'),
  lockChild: path.join(folder, 'lock-child.js'),
})

/** The paths of what a bundle of the modules as they are now has. */
export const findBundle = async (): Promise<ReturnType<typeof partsOf>> => {
  const folder = path.join(bundles, String(newestModule()))
  if (!exists(folder)) await makeBundle(folder)
  return partsOf(folder)
}
