/**
 * The program in a file for each life, with the code that V8 made of it: a start from hundreds of modules spends most of
 * its time in finding, opening and compiling them. The modules stay beside it, for tests, for plugins and to look at.
 */
import type { Script } from 'node:vm'

// A built-in module costs a start less when it is asked for than when it is imported.
const { closeSync, openSync, readFileSync, readSync, statSync } = process.getBuiltinModule('node:fs')
const { createRequire } = process.getBuiltinModule('node:module')
const path = process.getBuiltinModule('node:path')
const { pathToFileURL } = process.getBuiltinModule('node:url')
const vm = process.getBuiltinModule('node:vm')
const { crc32 } = process.getBuiltinModule('node:zlib')

/** Files whose stacks are told in lines of their sources. */
export interface MappedFiles {
  /** As stacks name them. */
  readonly names: readonly string[]
  /** What the sources of their maps are relative to. */
  readonly folder: string
  readonly readMap: (name: string) => string
}

/** What an opened program is to those that open it. */
export interface Program {
  /** Runs the command line of the process. */
  readonly main: () => void
  /** Makes stacks tell of the sources. */
  readonly mapStacks: (of: MappedFiles) => void
}

/** The daemon and the commands need different parts of the program, and different code of them. */
export const lives = ['serve', 'client'] as const
export type Life = (typeof lives)[number]

const read = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** Compiled modules and what is made of them. */
export const dist = path.resolve(import.meta.dirname, '../..')

export const filesOf = (folder: string, life: Life) => ({
  program: path.join(folder, `${life}.cjs`),
  map: path.join(folder, `${life}.cjs.map`),
  code: path.join(folder, `${life}.code`),
})

/**
 * Where the program of the modules as they are now has its place. The compiler
 * rewrites its notes whenever it writes a module, so a program made of other
 * modules is not found, however old the files say they are.
 */
export const programFolder = (of = dist): string | undefined => {
  const notes = read(path.join(of, '.tsbuildinfo'))
  return notes && path.join(of, 'bundle', crc32(notes).toString(16))
}

/** Reads a file into memory that is there: memory that nobody has touched costs more than what is read. */
const readInto = (room: Buffer, file: string): Buffer | undefined => {
  try {
    const open = openSync(file, 'r')
    const count = readSync(open, room)
    closeSync(open)
    return room.subarray(0, count)
  } catch {
    return undefined
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** The script of a life. Code that was kept by another version of Node is left aside by V8. */
export const readScript = (folder: string, life: Life, withCode = true): Script | undefined => {
  const { program, code } = filesOf(folder, life)
  const room = Buffer.allocUnsafeSlow(Math.max(sizeOf(program), sizeOf(code)))
  // All of it is ASCII, and one byte a character is what V8 reads fastest.
  const text = readInto(room, program)?.toString('latin1')
  const cachedData = withCode ? readInto(room, code) : undefined
  // The name is kept with the code, so it is no path: a release may be moved.
  return text === undefined
    ? undefined
    : new vm.Script(text, { filename: path.basename(program), ...(cachedData && { cachedData }) })
}

/** The part that esbuild makes of what it is given first. */
export const entryPart = 'stdin.js'

/** A part of the program, as `parts.ts` writes it: evaluates it, and returns what it shows. */
type Part = () => object
type OpenScript = (life: Life) => Readonly<Record<string, Part>>

/** Evaluates a part when it is first asked for. */
const createParts = (life: Life, open: OpenScript): ((name: string) => object) => {
  let parts = open(life)
  const evaluated = new Map<string, object>()
  return (name) => {
    const known = evaluated.get(name)
    if (known !== undefined) return known
    if (parts[name] === undefined) parts = { ...parts, ...open(life === 'serve' ? 'client' : 'serve') }
    const evaluate = parts[name]
    if (evaluate === undefined) throw new ReferenceError(`${name} of the program is gone: it was replaced meanwhile`)
    const shows = evaluate()
    evaluated.set(name, shows)
    return shows
  }
}

const isProgram = (shown: object): shown is Program => 'main' in shown && 'mapStacks' in shown

/** Evaluates the program with the script of a life. */
export const runProgram = (folder: string, life: Life, script: Script): Program | undefined => {
  const { program: file } = filesOf(folder, life)
  const url = pathToFileURL(file).href
  const place = {
    filename: file,
    url,
    urlOf: (module: string): string => new URL(`../../${module}`, url).href,
    load: (module: string): Promise<unknown> => import(module),
    part: (name: string): object => part(name),
    lazy: async (name: string): Promise<object> => part(name.replace(/^\.\//u, '')),
  }
  const part = createParts(life, (of) => {
    const opened = of === life ? script : readScript(folder, of)
    return opened?.runInThisContext()(createRequire(file), place)
  })
  const program = part(entryPart)
  if (!isProgram(program)) return undefined
  program.mapStacks({
    names: lives.map((each) => path.basename(filesOf(folder, each).program)),
    folder,
    readMap: (name) => readFileSync(path.join(folder, `${name}.map`), 'utf8'),
  })
  return program
}

const words: ReadonlySet<string | undefined> = new Set(['serve', 'start', undefined])
const lifeOf = (word: string | undefined): Life =>
  words.has(word) || /^--(?!help|version)/u.test(word ?? '') ? 'serve' : 'client'

/** The program for a command line that begins with this word; undefined if there is none of these modules. */
export const openProgram = (word: string | undefined): Program | undefined => {
  const folder = programFolder()
  if (folder === undefined) return undefined
  const life = lifeOf(word)
  const script = readScript(folder, life)
  return script && runProgram(folder, life, script)
}
