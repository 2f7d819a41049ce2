/** Commands behind walls, by bubblewrap, where there is one that works (tools-51 to tools-54). */
import { findBubblewrap, secretFiles, type Supervised } from '../../../../core/plugin.js'
import { credentialsBelow, sandboxArguments } from './arguments.js'

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
}

/** What is to be started. `isWalled`: in a sandbox. */
export type Wrapped =
  | {
      readonly type: 'run'
      readonly run: string | readonly string[]
      readonly environment: Readonly<Record<string, string>>
      readonly isWalled: boolean
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
  const argumentsOf = (order: Order): Promise<string[]> =>
    sandboxArguments(
      {
        workspace: order.workspace,
        folder: order.folder,
        writable: [...settings.sandbox_writable, ...(order.beside ?? [])],
        hidden: [
          stateRoot,
          ...secretFiles(),
          ...credentialsBelow(order.environment['HOME']),
          ...settings.sandbox_hidden,
        ],
        network,
      },
      order.command,
    )
  const look = async (): Promise<SandboxState> => {
    if (mode === 'off') return known
    const found = await findBubblewrap(supervised, await argumentsOf(trial), programs)
    program = 'program' in found ? found.program : undefined
    known = { mode, inForce: program !== undefined, ...('reason' in found && { reason: found.reason }) }
    return known
  }
  return {
    look,
    state: () => known,
    async wrap(order) {
      const plain: Wrapped = { type: 'run', run: order.command, environment: order.environment, isWalled: false }
      if (mode === 'off') return plain
      // One that did not work is looked for again: it may have been installed.
      const { inForce, reason = '' } = known.inForce ? known : await look()
      if (!inForce || program === undefined) return mode === 'on' ? plain : { type: 'refused', reason }
      const run = [program, ...(await argumentsOf(order))]
      return { type: 'run', run, environment: environmentOf(order.environment), isWalled: true }
    },
  }
}

/** A command that does nothing, without a workspace. */
const trial: Order = { command: ':', folder: '/', workspace: '/nowhere', environment: {} }
