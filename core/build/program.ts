/**
 * The program in one file, with the code that V8 made of it: a start from
 * hundreds of modules spends most of its time in finding, opening and compiling
 * them. The modules stay beside it, for tests, for plugins and to look at.
 */
import type { ScriptOptions, Script } from 'node:vm'

// A built-in module costs a start less when it is asked for than when it is imported.
const { readFileSync } = process.getBuiltinModule('node:fs')
const { createRequire } = process.getBuiltinModule('node:module')
const path = process.getBuiltinModule('node:path')
const { pathToFileURL } = process.getBuiltinModule('node:url')
const vm = process.getBuiltinModule('node:vm')
const { crc32 } = process.getBuiltinModule('node:zlib')

/** A file whose stacks are told in lines of its sources. */
export interface MappedFile {
  /** As stacks name it. */
  readonly name: string
  /** What the sources of the map are relative to. */
  readonly folder: string
  readonly readMap: () => string
}

/** What an opened program is to those that open it. */
export interface Program {
  /** Runs the command line of the process. */
  readonly main: () => void
  /** Makes stacks tell of the sources. */
  readonly mapStacks: (of: MappedFile) => void
}

/** Whose code is kept: the daemon and the commands need different parts of the program. */
export type Life = 'serve' | 'client'

const read = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** Compiled modules and what is made of them. */
export const dist = path.resolve(import.meta.dirname, '../..')

export const filesOf = (folder: string) => ({
  program: path.join(folder, 'program.cjs'),
  map: path.join(folder, 'program.cjs.map'),
  code: (life: Life) => path.join(folder, `${life}.code`),
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

export type Code = Pick<ScriptOptions, 'cachedData'>

/** The name of the program in stacks. It is kept with the code, so it is no path: a release may be moved. */
const filename = 'program.cjs'

/** Compiles the program of a folder. Code that another version of Node kept is left aside by V8. */
export const compile = (folder: string, text: string, code: Code = {}): { script: Script; run: () => Program } => {
  const { program: file, map } = filesOf(folder)
  const script = new vm.Script(text, { ...code, filename })
  const run = (): Program => {
    const url = pathToFileURL(file).href
    const urlOf = (module: string): string => new URL(`../../${module}`, url).href
    const load = (module: string): Promise<unknown> => import(module)
    const program: Program = script.runInThisContext()(createRequire(file), { filename: file, url, urlOf, load })
    program.mapStacks({ name: filename, folder, readMap: () => readFileSync(map, 'utf8') })
    return program
  }
  return { script, run }
}

const words: ReadonlySet<string | undefined> = new Set(['serve', 'start', undefined])
const lifeOf = (word: string | undefined): Life =>
  words.has(word) || /^--(?!help|version)/u.test(word ?? '') ? 'serve' : 'client'

/** The program for a command line that begins with this word; undefined if there is none of these modules. */
export const openProgram = (word: string | undefined): Program | undefined => {
  const folder = programFolder()
  if (folder === undefined) return undefined
  const { program, code } = filesOf(folder)
  // All of it is ASCII, and one byte a character is what V8 reads fastest.
  const text = read(program)?.toString('latin1')
  const cachedData = read(code(lifeOf(word)))
  return text === undefined ? undefined : compile(folder, text, cachedData && { cachedData }).run()
}
