/** What a process of the sandbox is started with: a bound of memory, and bubblewrap where it works. */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { isThere, realFolder } from '../state/disk/outside.js'

const worker = fileURLToPath(new URL('./worker.js', import.meta.url))

/** `RLIMIT_DATA` in KiB: unlike the address space, of which V8 reserves much, it counts what is really had. */
const bounded = 'ulimit -d "$1" || exit 1; shift; exec "$@"'

const mebibyte = 1024 * 1024
/** V8 would take more of the bound for its heap than leaves room for anything else. */
const node = (program: string, memoryBytes: number): string[] => [
  process.execPath,
  `--max-old-space-size=${Math.floor(memoryBytes / 2 / mebibyte)}`,
  '--max-semi-space-size=4',
  '--v8-pool-size=1',
  '--no-warnings',
  worker,
  program,
]

/** Folders with packages, from this one up. */
const packagesAround = (folder: string): string[] => {
  const here = path.join(folder, 'node_modules')
  const above = path.dirname(folder)
  return [...(isThere(here) ? [here] : []), ...(above === folder ? [] : packagesAround(above))]
}

/** The folder of the package that a module is of, as far as it is compiled: nothing else of it is needed. */
const compiledAround = (module: string): string => {
  const parts = module.split(path.sep)
  const at = parts.lastIndexOf('dist')
  return at === -1 ? path.dirname(module) : parts.slice(0, at + 1).join(path.sep)
}

const systemFolders = ['/usr', '/lib', '/lib64', '/lib32', '/bin', '/sbin', '/etc/ld.so.cache', '/etc/alternatives']

/** Each under its own name and the one that it leads to. */
const visible = (program: string): string[] => {
  const wanted = [
    ...systemFolders,
    path.dirname(realFolder(process.execPath)?.path ?? process.execPath),
    path.dirname(process.execPath),
    ...[worker, program].flatMap((module) => [compiledAround(module), ...packagesAround(path.dirname(module))]),
  ]
  const found = wanted.flatMap((each) => {
    const real = realFolder(each)
    return real === undefined ? [] : [each, real.path]
  })
  return [...new Set(found)].toSorted((a, b) => a.length - b.length)
}

const within = (folder: string, others: readonly string[]): boolean =>
  others.some((other) => folder.startsWith(`${other}/`))

/** Bytes that a job may leave in its temporary folder, which is memory that its own bound does not count. */
const temporaryBytes = 64 * 1024 * 1024

const apart = '--unshare-all --die-with-parent --new-session --cap-drop ALL'

/** What belongs to the program may lie where its own folders are put. */
const walled = (program: string): string[] => {
  const folders = visible(program)
  const own = `--proc /proc --dev /dev --size ${temporaryBytes} --tmpfs /tmp`
  const files = folders.filter((each) => !within(each, folders)).flatMap((each) => ['--ro-bind', each, each])
  return [...apart.split(' '), ...own.split(' '), ...files, ...'--remount-ro / --chdir / --'.split(' ')]
}

/** Ends well where the walls can be built and what runs behind them is seen there. */
export const trialOf = (program: URL): string[] => {
  const file = fileURLToPath(program)
  const looks = 'test -r "$1" && test -r "$2" && exec "$0" --version'
  return [...walled(file), '/bin/sh', '-c', looks, process.execPath, worker, file]
}

export interface Wanted {
  readonly program: URL
  readonly memoryBytes: number
  /** The program that builds the walls; undefined where there is none that works. */
  readonly bubblewrap: string | undefined
}

/** The command of a process. */
export const commandOf = ({ program, memoryBytes, bubblewrap }: Wanted): string[] => {
  const file = fileURLToPath(program)
  const walls = bubblewrap === undefined ? [] : [bubblewrap, ...walled(file)]
  return [
    '/bin/sh',
    '-c',
    bounded,
    'sh',
    String(Math.ceil(memoryBytes / 1024)),
    ...walls,
    ...node(program.href, memoryBytes),
  ]
}
