/** What bubblewrap is told: what a command may write, what it does not see, and that it goes with who started it. */
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { GitFolders } from './git-folders.js'

export interface Walls {
  /** Absolute paths, links resolved. */
  readonly workspace: string
  readonly folder: string
  /** Folders beside the workspace that may be written. */
  readonly writable: readonly string[]
  /** Files and folders that seem empty; those that are not there are passed over. */
  readonly hidden: readonly string[]
  readonly network: boolean
  readonly git: GitFolders
}

/** Where tools keep what opens other machines, below the home folder. */
const credentials = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.config/op',
  '.password-store',
  '.local/share/keyrings',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.config/git/credentials',
  '.cargo/credentials.toml',
]

export const credentialsBelow = (home: string | undefined): string[] =>
  home === undefined || !home.startsWith('/') ? [] : credentials.map((name) => join(home, name))

/** One thing that is put over what is there. */
interface Mount {
  readonly path: string
  readonly args: readonly string[]
  /** What was there is not seen, and only what is put there after it is. */
  readonly isEmpty?: true
  /** A folder that is closed when what is to be seen in it is there. */
  readonly isClosed?: true
}

export const realOf = (path: string): Promise<string | undefined> => fs.realpath(path).catch(() => undefined)

const writableMount = async (path: string): Promise<Mount | undefined> => {
  const real = await realOf(path)
  return real === undefined ? undefined : { path: real, args: ['--bind', real, real] }
}

const hiddenMount = async (path: string): Promise<Mount | undefined> => {
  const real = await realOf(path)
  const found = real === undefined ? undefined : await fs.stat(real).catch(() => undefined)
  if (real === undefined || found === undefined) return undefined
  if (found.isDirectory()) return { path: real, args: ['--tmpfs', real], isEmpty: true, isClosed: true }
  return { path: real, args: ['--ro-bind', '/dev/null', real], isEmpty: true }
}

const mebibyte = 1024 * 1024
/** Bytes that a command may leave in a temporary folder, which is memory. */
const temporaryBytes = 512 * mebibyte

/** Where names are looked up, for a command that may use the network: below `/run`, which is hidden. */
const resolvers = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager/resolv.conf']

const memory = (path: string): Mount => ({
  path,
  args: ['--size', String(temporaryBytes), '--tmpfs', path],
  isEmpty: true,
})

const own = (network: boolean): Mount[] => [
  { path: '/dev', args: ['--dev', '/dev'], isClosed: true },
  memory('/dev/shm'),
  // Root keeps the settings of the system there, for which it needs no rights that could be taken from it.
  { path: '/proc', args: ['--proc', '/proc'], isClosed: true },
  // Sockets of other services are there: who may connect to one is not behind these walls any more.
  { path: '/run', args: ['--tmpfs', '/run'], isEmpty: true, isClosed: true },
  ...(network ? resolvers.map((path): Mount => ({ path, args: ['--ro-bind-try', path, path] })) : []),
  memory('/tmp'),
  memory('/var/tmp'),
]

const depthOf = ({ path }: Mount): number => path.split('/').filter((name) => name !== '').length

/** Nothing can be put where the system has nothing, or has a link that leads to what is there already. */
const isAbsent = async ({ path }: Mount): Promise<boolean> => (await realOf(path)) !== path

/** The nearest thing that lies around another one. */
const around = (mounts: readonly Mount[], { path }: Mount): Mount | undefined =>
  mounts
    .filter((other) => path.startsWith(`${other.path}/`))
    .toSorted((a, b) => depthOf(a) - depthOf(b))
    .at(-1)

/** Of git folders only those matter that could be written; what is hidden stays so. */
const gitMounts = ({ kept, closed }: GitFolders, mounts: readonly Mount[]): Mount[] =>
  [
    ...kept.map((path): Mount => ({ path, args: ['--bind', path, path] })),
    ...closed.map((path): Mount => ({ path, args: ['--ro-bind', path, path] })),
  ].filter((mount) => {
    const beneath = mounts.findLast(({ path }) => path === mount.path) ?? around(mounts, mount)
    return beneath !== undefined && beneath.isEmpty === undefined && beneath.isClosed === undefined
  })

/** Whatever lies within something else is put there after it. What is not seen anyway is not named. */
const mountsOf = async ({ workspace, writable, hidden, network, git }: Walls): Promise<Mount[]> => {
  const found = await Promise.all([...[workspace, ...writable].map(writableMount), ...hidden.map(hiddenMount)])
  const usual = await Promise.all(own(network).map(async (mount) => ((await isAbsent(mount)) ? undefined : mount)))
  const mounts = [...usual, ...found].filter((mount) => mount !== undefined)
  return mounts
    .filter((mount) => mount.isEmpty === undefined || around(mounts, mount)?.isEmpty === undefined)
    .concat(gitMounts(git, mounts))
    .toSorted((a, b) => depthOf(a) - depthOf(b))
}

const shell = `if command -v bash >/dev/null 2>&1; then exec bash --norc --noprofile -c "$1"; fi; exec sh -c "$1"`

/** It goes with who started it, sees no processes of others, and can do what its user can and no more. */
const walled =
  '--die-with-parent --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL --ro-bind / /'.split(
    ' ',
  )

export const sandboxArguments = async (walls: Walls, command: string): Promise<string[]> => {
  const mounts = await mountsOf(walls)
  return [
    ...walled,
    ...(walls.network ? [] : ['--unshare-net']),
    ...mounts.flatMap(({ args }) => args),
    ...mounts.flatMap(({ path, isClosed }) => (isClosed === undefined ? [] : ['--remount-ro', path])),
    '--chdir',
    walls.folder,
    '--',
    '/bin/sh',
    '-c',
    shell,
    'sh',
    command,
  ]
}
