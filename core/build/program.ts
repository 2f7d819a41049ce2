/**
 * The program in a file for each life, with the code that V8 made of it: a start from hundreds of modules spends most of
 * its time in finding, opening and compiling them. The modules stay beside it, for tests, for plugins and to look at.
 */
import type { Script } from 'node:vm'

// A built-in module costs a start less when it is asked for than when it is imported.
const { closeSync, existsSync, openSync, readFileSync, readSync, statSync } = process.getBuiltinModule('node:fs')
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

/** The line that a file of the program begins with. V8 copies code that stands at no multiple of eight. */
const headLength = 16
const headOf = (sum: number): string => `//${sum.toString(16).padStart(8, '0')}\n`.padStart(headLength, ' ')

/** What the checksum of a file goes on from: no other file is taken for it. */
export const sumOfName = (file: string): number => crc32(path.basename(file))

/** A file of the program as it is written: what it is to hold, behind its checksum. */
export const seal = (content: Buffer, from: number): Buffer =>
  Buffer.concat([Buffer.from(headOf(crc32(content, from)), 'latin1'), content])

interface Proven {
  readonly content: Buffer
  readonly sum: number
}

/** Undefined if it is not what the build has written. */
export const prove = (file: Buffer | undefined, from: number): Proven | undefined => {
  if (file === undefined) return undefined
  const content = file.subarray(headLength)
  const sum = crc32(content, from)
  return file.toString('latin1', 0, headLength) === headOf(sum) ? { content, sum } : undefined
}

/** Undefined too if the file cannot be read. */
const withFile = <T>(file: string, use: (open: number) => T): T | undefined => {
  let open: number | undefined
  try {
    open = openSync(file, 'r')
    return use(open)
  } catch {
    return undefined
  } finally {
    if (open !== undefined) closeSync(open)
  }
}

/** Reads a file into memory that is there: memory that nobody has touched costs more than what is read. */
const readInto = (room: Buffer, file: string): Buffer | undefined =>
  withFile(file, (open) => room.subarray(0, readSync(open, room)))

/** The same as `prove` for a file that is not to be used now, in little memory. */
const isProven = (file: string): boolean | undefined =>
  withFile(file, (open) => {
    const room = Buffer.allocUnsafeSlow(1 << 16)
    const head = room.toString('latin1', 0, readSync(open, room, { length: headLength }))
    let [sum, count] = [sumOfName(file), 0]
    while ((count = readSync(open, room)) > 0) sum = crc32(room.subarray(0, count), sum)
    return head === headOf(sum)
  })

const sizeOf = (file: string): number => {
  try {
    return statSync(file).size
  } catch {
    return 0
  }
}

/**
 * The script of a life; undefined if it is gone or damaged. Its code goes on from its checksum, so it is code of no
 * other text: V8 compares only lengths, and damaged code ends the process. Code that was kept by another version of
 * Node is left aside by V8.
 */
export const readScript = (folder: string, life: Life, withCode = true): Script | undefined => {
  const { program, code } = filesOf(folder, life)
  const room = Buffer.allocUnsafeSlow(Math.max(sizeOf(program), sizeOf(code)))
  const proven = prove(readInto(room, program), sumOfName(program))
  if (proven === undefined) return undefined
  // All of it is ASCII, and one byte a character is what V8 reads fastest.
  const text = proven.content.toString('latin1')
  const cachedData = withCode ? prove(readInto(room, code), proven.sum)?.content : undefined
  // The name is kept with the code, so it is no path: a release may be moved.
  return new vm.Script(text, { filename: path.basename(program), ...(cachedData && { cachedData }) })
}

/** Code of a script as it is written. */
export const sealCode = (folder: string, life: Life, code: Buffer): Buffer => {
  const { program } = filesOf(folder, life)
  return seal(code, prove(read(program), sumOfName(program))?.sum ?? 0)
}

/** The first file of a program that the build has not written so. A life whose code was not kept has none. */
export const damagedOf = (folder: string): string | undefined => {
  for (const life of lives) {
    const { program, map, code } = filesOf(folder, life)
    const script = prove(read(program), sumOfName(program))
    if (script === undefined) return program
    if (isProven(map) !== true) return map
    if (existsSync(code) && prove(read(code), script.sum) === undefined) return code
  }
  return undefined
}

/** The part that esbuild makes of what it is given first. */
export const entryPart = 'stdin.js'

/** A part of the program, as `parts.ts` writes it: evaluates it, and returns what it shows. */
type Part = () => object
type OpenScript = (life: Life) => Readonly<Record<string, Part>>

const otherThan = (life: Life): Life => (life === 'serve' ? 'client' : 'serve')

/** The code of the error where a part is needed and its file was damaged or replaced since the start. */
export const programDamaged = 'program_damaged'

const damaged = (life: Life): Error => {
  const sentence = `${life}.cjs of the program was damaged or replaced since this process started: start it again`
  return Object.assign(new ReferenceError(`${sentence}, and if that tells of it, build it or install it anew`), {
    code: programDamaged,
  })
}

/** Evaluates a part when it is first asked for. */
const createParts = (life: Life, open: OpenScript): ((name: string) => object) => {
  let parts = open(life)
  const evaluated = new Map<string, object>()
  return (name) => {
    const known = evaluated.get(name)
    if (known !== undefined) return known
    if (parts[name] === undefined) parts = { ...parts, ...open(otherThan(life)) }
    const evaluate = parts[name]
    if (evaluate === undefined) throw damaged(otherThan(life))
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
    readMap: (name) => prove(read(path.join(folder, `${name}.map`)), crc32(`${name}.map`))?.content.toString() ?? '[]',
  })
  return program
}

const words: ReadonlySet<string | undefined> = new Set(['serve', 'start', undefined])
const lifeOf = (word: string | undefined): Life =>
  words.has(word) || /^--(?!help|version)/u.test(word ?? '') ? 'serve' : 'client'

/** The program, or the file for which it is not used. */
export interface Opened {
  readonly program?: Program | undefined
  readonly damaged?: string
}

/** Opens the program for a command line that begins with this word; nothing if there is none of these modules. */
export const openProgram = (word: string | undefined): Opened => {
  const folder = programFolder()
  if (folder === undefined || !existsSync(folder)) return {}
  const life = lifeOf(word)
  const other = filesOf(folder, otherThan(life)).program
  // Whatever is needed of it later is to be there.
  if (isProven(other) !== true) return { damaged: other }
  const script = readScript(folder, life)
  return script === undefined
    ? { damaged: filesOf(folder, life).program }
    : { program: runProgram(folder, life, script) }
}
