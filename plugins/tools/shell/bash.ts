import { promises as fs } from 'node:fs'
import { resolve, sep } from 'node:path'
import {
  boolean,
  defaulted,
  doc,
  object,
  optional,
  string,
  type Infer,
  type JsonObject,
  type Problem,
  type Supervised,
} from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import type { Background } from './background.js'
import { runCommand, type CommandEnd } from './command-run.js'
import type { ShellConfig } from './config.js'
import { shellErrors } from './errors.js'
import { takeAway } from './sandbox/git-folders.js'
import type { Sandbox } from './sandbox/sandbox.js'

/** The system takes no longer argument than 128 KiB. */
const maxCommandBytes = 100_000

const BashInput = object({
  command: doc(
    string({ min: 1 }),
    'What bash runs. It has no standard input, and what it leaves running is stopped when it ends.',
  ),
  workdir: optional(doc(string({ min: 1, max: 4096 }), 'Folder to run in, relative to the workspace.')),
  run_in_background: defaulted(
    doc(
      boolean(),
      'Answers at once with a task: the command goes on after the call and the run. See task_output and task_stop.',
    ),
    false,
  ),
  description: optional(
    doc(string({ max: 500 }), 'What the command is for, in a few words, for the people who approve it.'),
  ),
})
type BashInput = Infer<typeof BashInput>

export interface BashParts {
  readonly supervised: Supervised
  readonly config: ShellConfig
  readonly background: Background
  readonly sandbox: Sandbox
  readonly environment: () => Record<string, string>
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal
}

interface Folders {
  readonly workspace: string
  readonly folder: string
}

const foldersOf = async (
  { workspace: path, within }: Pick<ToolCall, 'workspace' | 'within'>,
  workdir: string | undefined,
): Promise<Folders | undefined> => {
  try {
    const workspace = await fs.realpath(path)
    if (within !== undefined && workspace !== path) return undefined
    const folder = await fs.realpath(resolve(workspace, workdir ?? '.'))
    const isInside = folder === workspace || folder.startsWith(workspace.endsWith(sep) ? workspace : workspace + sep)
    return isInside && (await fs.stat(folder)).isDirectory() ? { workspace, folder } : undefined
  } catch {
    return undefined
  }
}

const refusal = ({ command }: BashInput): Problem | undefined =>
  command.includes('\0') || Buffer.byteLength(command) > maxCommandBytes
    ? shellErrors.command_invalid({ details: { limit: maxCommandBytes } })
    : undefined

/** How a command ended, and whether it ran in a sandbox. */
interface BashEnd extends CommandEnd {
  readonly isWalled: boolean
  /** Paths that it made and that were renamed since (tools-58). */
  readonly refused: readonly string[]
}

const view = ({ code, signal, stdout, stderr, remaining, isWalled, refused }: BashEnd): JsonObject => ({
  success: code === 0,
  exit_code: code,
  signal,
  stdout: stdout.text,
  stderr: stderr.text,
  stdout_bytes: stdout.bytes,
  stderr_bytes: stderr.bytes,
  truncated: stdout.truncated || stderr.truncated,
  ...(isWalled && { sandboxed: true }),
  ...(refused.length > 0 && { refused_paths: [...refused] }),
  ...(remaining.length > 0 && { process_tree_remaining_pids: remaining.slice(0, 20) }),
})

const outcomeOf = (end: BashEnd): ToolOutcome => {
  if (!end.started) return failedCall(shellErrors.command_not_started())
  if (!end.stopped && !end.lost) return { type: 'result', output: view(end) }
  const { code, message, action = '' } = end.stopped ? shellErrors.command_stopped() : shellErrors.command_lost()
  return {
    type: 'result',
    is_error: true,
    output: { error: { code, message, action }, ...view(end), success: false },
  }
}

const run = async (
  parts: BashParts,
  { command, workdir, description, run_in_background }: BashInput,
  call: ToolCall,
): Promise<ToolOutcome> => {
  const { supervised, config, signal } = parts
  const folders = await foldersOf(call, workdir)
  if (folders === undefined) return failedCall(shellErrors.workdir_invalid())
  if (call.signal.aborted) return failedCall(shellErrors.command_stopped())
  const wrapped = await parts.sandbox.wrap({
    command,
    ...folders,
    beside: call.beside,
    environment: parts.environment(),
    isBackground: run_in_background,
  })
  if (wrapped.type === 'refused')
    return failedCall(shellErrors.sandbox_unavailable({ details: { reason: wrapped.reason } }))
  const { run: what, environment, isWalled, absent } = wrapped
  const { folder } = folders
  if (run_in_background)
    return parts.background.start({ command, run: what, isWalled, environment, folder, workdir, description, call })
  const end = await runCommand({
    supervised,
    run: what,
    isWalled,
    folder,
    environment,
    output_bytes: config.output_bytes,
    grace_ms: config.grace_ms,
    signal: AbortSignal.any([call.signal, signal]),
  })
  return outcomeOf({ ...end, isWalled, refused: await takeAway(absent) })
}

/** What a model should know beforehand, for it cannot change it. */
const wallsOf = ({ sandbox, sandbox_network }: ShellConfig): string =>
  sandbox === 'off'
    ? ''
    : ` Commands may run in a sandbox: only the workspace and /tmp can be written, /tmp is empty at each call${
        sandbox_network ? '' : ', and there is no network'
      }. Git can commit there and not change its settings and hooks; in the background it changes nothing.`

/**
 * `once`: nobody knows what a repetition of a command would do. A command that fails has still run, so it is a result
 * and no error.
 */
export const bashTool = (parts: BashParts): Tool =>
  defineTool({
    name: 'bash',
    description:
      'Runs a command in bash in the workspace and waits for its end, or leaves it in the background as a task. ' +
      'Returns exit code, standard output and standard error; of long output the beginning and the end.' +
      wallsOf(parts.config),
    input: BashInput,
    effect: 'once',
    parallel: false,
    timeout_ms: 3_600_000,
    sandbox: 'workspace_write',
    // Elsewhere, or behind the run, it is another command.
    subject: ({ command, workdir, run_in_background }) =>
      workdir === undefined && !run_in_background ? { kind: 'command', value: command } : undefined,
    refusal,
    run: (input, call) => run(parts, input, call),
  })
