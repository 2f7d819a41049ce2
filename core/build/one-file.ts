/** Makes the program in one file out of the modules, and keeps the code that its lives need. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { dist, filesOf, programFolder, type Life } from './program.js'

/** Packages that a plain start does not load stay where they are. */
const external = ['undici', 'ajv', 'yaml', 'htmlparser2', '@modelcontextprotocol/client']

/** The modules that a third-party plugin may import: it must get those of the program. */
const sharedModules = (): string[] => [
  'core/plugin.js',
  ...readdirSync(path.join(dist, 'plugins'), { recursive: true, encoding: 'utf8' })
    .filter((name) => path.basename(name) === 'contract.js')
    .map((name) => `plugins/${name}`),
]

const entry = (): string => `
export { main } from './core/command-line.js'
export { mapStacks } from './core/build/stack.js'
export { stackOf } from './core/base/text/stack.js'
globalThis[Symbol.for('holdfast.modules')] = {
${sharedModules()
  .map((module) => `  [__place.urlOf('${module}')]: () => import('./${module}'),`)
  .join('\n')}
}
`

/** For esbuild, whose patterns know no flags. */
const ours = new RegExp(String.raw`/dist[^/]*/(?:core|plugins)/.*\.js$`)

/** What is read one byte a character: esbuild escapes the signs of texts, and leaves those of patterns. */
const asciiOf = (text: string): string =>
  text.replaceAll(/[^\0-\x7F]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

const opening = `(function (require, __place) {
'use strict'
const module = { exports: {} }, __filename = __place.filename
`

const textOf = async (): Promise<{ text: string; map: string }> => {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: { contents: entry(), resolveDir: dist, sourcefile: 'entry.js' },
    outfile: path.join(dist, 'bundle', 'build', 'program.cjs'),
    bundle: true,
    // Names stay, as errors and stacks tell them, and lines, as Node prints the one that an error is of.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external,
    write: false,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
    banner: { js: opening },
    footer: { js: 'return module.exports })' },
    define: { 'import.meta.url': '__place.url' },
    plugins: [
      {
        name: 'a module keeps its own address',
        setup: ({ onLoad }) => {
          onLoad({ filter: ours }, ({ path: file }) => {
            const text = readFileSync(file, 'utf8')
            const name = path.relative(dist, file)
            return { contents: asciiOf(text.replaceAll('import.meta.url', `__place.urlOf('${name}')`)) }
          })
        },
      },
    ],
  })
  const [map = '', text = ''] = outputFiles.toSorted((a, b) => b.path.length - a.path.length).map((file) => file.text)
  if (asciiOf(text) !== text) throw new Error('the program holds signs that are not ASCII')
  return { text: text.replaceAll(/(?<![.$\w])import\(/gu, '__place.load('), map }
}

/** A life that takes longer is ended: its code is not kept. */
const lifeMs = 60_000

/** Lives of a daemon on a root of its own and of a command that asks it, for the code that they need. */
const keepCode = async (folder: string): Promise<void> => {
  const root = await mkdtemp(path.join(tmpdir(), 'holdfast-'))
  const live = (life: Life, args: readonly string[]) => {
    const command = [path.join(dist, 'core/build/keep-code.js'), folder, life, ...args]
    const child = spawn(process.execPath, command, {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: lifeMs,
      env: { HOME: root, PATH: process.env['PATH'] },
    })
    return { child, ended: new Promise((resolve) => child.once('close', resolve)) }
  }
  const daemon = live('serve', ['serve', '--bind', '127.0.0.1:0', '--state-root', path.join(root, 'state')])
  daemon.child.stdout.once('data', (line: Buffer) => {
    const [url = ''] = /http:\/\/[^,\s]+/u.exec(String(line)) ?? []
    const asked = live('client', ['status', '--base-url', url])
    asked.child.stdout.resume()
    void asked.ended.then(() => daemon.child.kill('SIGTERM'))
  })
  await daemon.ended
  await rm(root, { recursive: true, force: true })
}

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

const drafts = 'draft-'

/** Resolves with the folder of the program; undefined if the modules have none: the compiler left no notes. */
export const makeProgram = async (): Promise<string | undefined> => {
  const folder = programFolder()
  if (folder === undefined || exists(folder)) return folder
  const bundles = path.dirname(folder)
  await mkdir(bundles, { recursive: true })
  const draft = await mkdtemp(path.join(bundles, drafts))
  const { text, map } = await textOf()
  await writeFile(filesOf(draft).program, text)
  await writeFile(filesOf(draft).map, map)
  await keepCode(draft)
  await chmod(draft, 0o755)
  // Whoever was first made the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
  await removeOthers(folder)
  return folder
}

/** Programs of earlier builds. */
const removeOthers = async (folder: string): Promise<void> => {
  const bundles = path.dirname(folder)
  const others = readdirSync(bundles).filter((name) => name !== path.basename(folder) && !name.startsWith(drafts))
  for (const name of others) await rm(path.join(bundles, name), { recursive: true, force: true })
}
