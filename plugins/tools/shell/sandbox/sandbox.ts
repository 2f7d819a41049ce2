/** Commands behind walls, by bubblewrap, where there is one that works (tools-51 to tools-54, tools-58). */
import { findBubblewrap, secretFiles, type Supervised } from '../../../../core/plugin.js'
import { credentialsBelow, realOf, sandboxArguments, type Walls } from './arguments.js'
import { findGitFolders } from './git-folders.js'

export const sandboxModes = ['off', 'on', 'required'] as const

export interface SandboxSettings {
  readonly sandbox: (typeof sandboxModes)[number]
  readonly sandbox_network: boolean
  readonly sandbox_writable: readonly string[]
  readonly sandbox_hidden: readonly string[]
}

/** A command, with what it runs in. */
export interface Order {
  readonly command: string
  /** Absolute paths, links resolved. */
  readonly folder: string
  readonly workspace: string
  readonly environment: Readonly<Record<string, string>>
  /** Folders beside the workspace that it may write. */
  readonly beside?: readonly string[] | undefined
  /** Nobody waits for its end, to look at what it did. */
  readonly isBackground?: boolean
}

/** What is to be started. `isWalled`: in a sandbox. */
export type Wrapped =
  | {
      readonly type: 'run'
      readonly run: string | readonly string[]
      readonly environment: Readonly<Record<string, string>>
      readonly isWalled: boolean
      /** What must not have come into being when it has ended: see `takeAway`. */
      readonly absent: readonly string[]
    }
  | { readonly type: 'refused'; readonly reason: string }

export interface SandboxState {
  readonly mode: SandboxSettings['sandbox']
  /** Commands run in it now. */
  readonly inForce: boolean
  /** Why not, although it is wanted. */
  readonly reason?: string
}

export interface Sandbox {
  /** Looks whether it works, if it is wanted. */
  look(): Promise<SandboxState>
  /** As of the last look. */
  state(): SandboxState
  wrap(order: Order): Promise<Wrapped>
}

export interface SandboxParts {
  readonly supervised: Supervised
  readonly settings: SandboxSettings
  readonly stateRoot: string
  /** Where the program is looked for: no folder that a command could write to. */
  readonly programs?: readonly string[]
}

/** Variables that lead out, or to what is not there. */
const leadsOut: ReadonlySet<string> = new Set(
  'SSH_AUTH_SOCK DOCKER_HOST DISPLAY WAYLAND_DISPLAY XDG_RUNTIME_DIR KUBECONFIG TMP TEMP TMPDIR'.split(' '),
)

const environmentOf = (environment: Order['environment']): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => !leadsOut.has(name))),
  TMPDIR: '/tmp',
})

export const createSandbox = ({ supervised, settings, stateRoot, programs }: SandboxParts): Sandbox => {
  const { sandbox: mode, sandbox_network: network } = settings
  let known: SandboxState = { mode, inForce: false }
  let program: string | undefined
  const wallsOf = async ({ workspace, folder, beside = [], environment, isBackground }: Order): Promise<Walls> => {
    const writable = [...settings.sandbox_writable, ...beside]
    const reals = await Promise.all([workspace, ...writable].map(realOf))
    const git = await findGitFolders(
      reals.filter((path) => path !== undefined),
      isBackground !== true,
    )
    const hidden = [stateRoot, ...secretFiles(), ...credentialsBelow(environment['HOME']), ...settings.sandbox_hidden]
    return { workspace, folder, writable, hidden, network, git }
  }
  const look = async (): Promise<SandboxState> => {
    if (mode === 'off') return known
    const found = await findBubblewrap(
      supervised,
      await sandboxArguments(await wallsOf(trial), trial.command),
      programs,
    )
    program = 'program' in found ? found.program : undefined
    known = { mode, inForce: program !== undefined, ...('reason' in found && { reason: found.reason }) }
    return known
  }
  return {
    look,
    state: () => known,
    async wrap(order) {
      const { command, environment } = order
      const plain: Wrapped = { type: 'run', run: command, environment, isWalled: false, absent: [] }
      if (mode === 'off') return plain
      // One that did not work is looked for again: it may have been installed.
      const { inForce, reason = '' } = known.inForce ? known : await look()
      if (!inForce || program === undefined) return mode === 'on' ? plain : { type: 'refused', reason }
      const walls = await wallsOf(order)
      const run = [program, ...(await sandboxArguments(walls, command))]
      return { type: 'run', run, environment: environmentOf(environment), isWalled: true, absent: walls.git.absent }
    },
  }
}

/** A command that does nothing, without a workspace. */
const trial: Order = { command: ':', folder: '/', workspace: '/nowhere', environment: {} }
