/** One attempt at one hook, by its executor. */
import { assertNever, messageOf, outboundTarget, type Outbound } from '../../../core/plugin.js'
import type { Invocation } from '../../execution/interception/contract.js'
import { askByAgent, type AgentParts } from './agent-hook.js'
import { runCommand, type CommandParts } from './command/command-hook.js'
import type { HookCallback } from './contract.js'
import type { HookDefinition } from './definitions.js'
import { postHook } from './http-hook.js'
import { faultWith, rulingOf, type Answered } from './outcome/outcome.js'
import { askByPrompt, type PromptParts, type PromptWish } from './prompt-hook.js'

export interface AttemptParts extends CommandParts, PromptParts, AgentParts {
  readonly outbound: Outbound
  readonly allow_cidrs: () => readonly string[]
  readonly callbacks: () => readonly HookCallback[]
}

export interface Attempted {
  readonly definition: HookDefinition
  readonly invocation: Invocation
  readonly input: string
  readonly timeout_ms: number
  readonly signal: AbortSignal
}

/** Whom a hook asks, without what may be secret. */
export const targetOf = ({ executor }: HookDefinition): string => {
  switch (executor.type) {
    case 'command':
      return 'command'
    case 'http':
      return outboundTarget(executor.url)
    case 'callback':
      return `callback:${executor.name}`
    default:
      return executor.type
  }
}

const aborted = (signal: AbortSignal): Promise<Answered> =>
  new Promise((resolve) => {
    const fault = { fault: 'it was cut short' }
    if (signal.aborted) resolve(fault)
    else signal.addEventListener('abort', () => resolve(fault), { once: true })
  })

const callBack = async (parts: AttemptParts, callback: string, { definition, invocation, signal }: Attempted) => {
  const found = parts.callbacks().find(({ name }) => name === callback)
  if (found === undefined) return { fault: 'no plugin contributes a callback of that name' }
  try {
    const answer = found.call(invocation, signal).then((given) => rulingOf(definition.name, given))
    return await Promise.race([answer, aborted(signal)])
  } catch (error) {
    return faultWith('its callback failed', messageOf(error) || 'it threw without a word', parts.redact)
  }
}

/** A provider that does not end in time is waited for behind the run. */
const byModel = (parts: AttemptParts, wish: PromptWish): Promise<Answered> => {
  const answer = askByPrompt(parts, wish)
  parts.track(answer)
  return Promise.race([answer, aborted(wish.signal)])
}

/** Asks once. Ends when the signal aborts, whatever the hook does. */
export const attempt = (parts: AttemptParts, attempted: Attempted): Promise<Answered> | Answered => {
  const {
    definition: { name, executor },
    invocation,
    input,
    timeout_ms,
    signal,
  } = attempted
  switch (executor.type) {
    case 'command':
      return runCommand(parts, { name, command: executor.command, shell: executor.shell, input, signal })
    case 'http':
      return postHook(parts.outbound, {
        ...executor,
        name,
        input,
        timeout_ms,
        allow_cidrs: parts.allow_cidrs(),
        signal,
        redact: parts.redact,
      })
    case 'callback':
      return callBack(parts, executor.name, attempted)
    case 'prompt':
      return byModel(parts, { name, executor, invocation, input, signal })
    case 'agent':
      return askByAgent(parts, { name, executor, invocation, input, timeout_ms, signal })
    default:
      return assertNever(executor)
  }
}
