/** Makes the program out of the modules, a file for each life, and keeps the code that these need. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Metafile } from 'esbuild'
import { fault } from '../base/assert.js'
import { scriptOf } from './parts.js'
import { damagedOf, dist, entryPart, filesOf, lives, programFolder, seal, sumOfName, type Life } from './program.js'

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
export { stackOf } from './core/base/text/thrown.js'
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

/** Where esbuild believes that it writes: as far below the build as the program is. */
const outdir = path.join(dist, 'bundle', 'build')

const split = async () => {
  const { build } = await import('esbuild')
  return build({
    stdin: { contents: entry(), resolveDir: dist },
    absWorkingDir: dist,
    outdir,
    bundle: true,
    splitting: true,
    // Names stay, as errors and stacks tell them, and lines, as Node prints the one that an error is of.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external,
    write: false,
    metafile: true,
    legalComments: 'inline',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
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
}

/** What a life does not import by itself. It is found in the program of the other one if it is needed after all. */
const elsewhere: Readonly<Record<Life, RegExp>> = {
  serve: /^core\/cli\/|\/commands\.js$/u,
  client: /^core\/(?:serve|short-daemon)\.js$|\/(?:plugin|contract)\.js$/u,
}

/** Names of the parts that a life may need. */
const partsOf = ({ outputs }: Metafile, life: Life): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (file: string): void => {
    const output = outputs[file]
    if (output === undefined || found.has(path.basename(file))) return
    found.add(path.basename(file))
    for (const { path: needed, kind } of output.imports)
      if (kind === 'import-statement' || !elsewhere[life].test(outputs[needed]?.entryPoint ?? '')) visit(needed)
  }
  visit(path.relative(dist, path.join(outdir, entryPart)))
  return found
}

const writePrograms = async (folder: string): Promise<void> => {
  const { outputFiles, metafile } = await split()
  const texts = new Map(outputFiles.map(({ path: file, text }) => [path.basename(file), text]))
  for (const life of lives) {
    const names = [...partsOf(metafile, life)].toSorted()
    const parts = names.map((name) => ({ name, text: texts.get(name) ?? '', map: texts.get(`${name}.map`) ?? '' }))
    const { text, sections } = await scriptOf(parts)
    if (asciiOf(text) !== text) throw fault('the program holds signs that are not ASCII')
    const { program, map } = filesOf(folder, life)
    await writeFile(program, seal(Buffer.from(text), sumOfName(program)))
    await writeFile(map, seal(Buffer.from(JSON.stringify(sections)), sumOfName(map)))
  }
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
    // Words behind flags may be those of any command: all of them are imported, and their code is kept.
    const asked = live('client', ['--base-url', url, 'status'])
    asked.child.stdout.resume()
    void asked.ended.then(() => daemon.child.kill('SIGTERM'))
  })
  await daemon.ended
  await rm(root, { recursive: true, force: true })
}

const drafts = 'draft-'

/** Whoever was first made the same; what is damaged makes room. */
const putInPlace = async (draft: string, folder: string): Promise<void> => {
  const aside = `${draft}-damaged`
  if (damagedOf(folder) !== undefined) await rename(folder, aside).catch(() => undefined)
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
  await rm(aside, { recursive: true, force: true })
}

/** Resolves with the folder of the program; undefined if the modules have none: the compiler left no notes. */
export const makeProgram = async (): Promise<string | undefined> => {
  const folder = programFolder()
  if (folder === undefined || damagedOf(folder) === undefined) return folder
  const bundles = path.dirname(folder)
  await mkdir(bundles, { recursive: true })
  const draft = await mkdtemp(path.join(bundles, drafts))
  await writePrograms(draft)
  await keepCode(draft)
  await chmod(draft, 0o755)
  await putInPlace(draft, folder)
  await removeOthers(folder)
  return folder
}

/** Programs of earlier builds. */
const removeOthers = async (folder: string): Promise<void> => {
  const bundles = path.dirname(folder)
  const others = readdirSync(bundles).filter((name) => name !== path.basename(folder) && !name.startsWith(drafts))
  for (const name of others) await rm(path.join(bundles, name), { recursive: true, force: true })
}
