/** One hook and one invocation: attempts within a time, the ledger, and what a failure means. */
import {
  digest,
  withoutSecrets,
  withoutSecretsInCode,
  type Clock,
  type Ids,
  type Log,
  type Secrets,
  type State,
} from '../../../core/plugin.js'
import type { ActionOutcome, ExternalActions, OpenCalls } from '../../execution/external-actions/contract.js'
import type { Invocation, Ruling } from '../../execution/interception/contract.js'
import { attempt, targetOf, type AttemptParts, type Attempted } from './attempt.js'
import type { DeadLetters } from './dead-letters.js'
import { defaultTimeoutMs, mostRetries, type HookDefinition } from './definitions.js'
import type { HookPermissions } from './outcome/permissions.js'
import { contractVersion, documentOf } from './invocation.js'
import { ownSecrets } from './command/own-secrets.js'
import { blockOf, shownRuling, strangeText, type Answered } from './outcome/outcome.js'
import { secretsInOwnPath, withoutOwnPath } from './outcome/own-path.js'

/** Since the start of the daemon. */
export interface HookCounts {
  executions: number
  failures: number
  retries: number
  unkept: number
}

export interface HookParts extends AttemptParts {
  readonly state: State
  readonly ids: Ids
  readonly log: Log
  readonly ledger: () => ExternalActions | undefined
  readonly letters: DeadLetters
  readonly calls: OpenCalls
  readonly permissions: HookPermissions
  readonly counts: HookCounts
  readonly clock: Clock
  /** Values that commands are passed by name. */
  readonly passed: () => readonly string[]
  /** Has a value redacted until the answer is called. */
  readonly guard: Secrets['guard']
  /** Aborts when the plugin stops. */
  readonly ending: AbortSignal
}

interface Ended {
  readonly answered: Answered
  readonly attempts: number
}

/** Between two attempts, milliseconds. */
const pauseMs = 100

const unknownMembers = 'its outcome has members that nobody looks at: '

/** A guard that must not fail has failed where what it said is not understood to the end. */
const strictly = ({ failure_policy }: HookDefinition, answered: Answered): Answered => {
  const strange = strangeOf(answered)
  return failure_policy?.mode === 'closed' && strange.length > 0
    ? { fault: unknownMembers + strangeText(strange) }
    : answered
}

const strangeOf = (answered: Answered): readonly string[] => ('fault' in answered ? [] : (answered.strange ?? []))

/** A guard that throws has failed, and lets nothing pass that it should have looked at. */
const attemptOnce = async (parts: HookParts, attempted: Attempted): Promise<Answered> => {
  try {
    return await attempt(parts, attempted)
  } catch (error) {
    parts.log.error('a hook could not be asked', { hook: attempted.definition.name, error })
    return { fault: 'it could not be asked' }
  }
}

/** Tries until one attempt answers, within the time for all of them. */
const tryAll = async (parts: HookParts, attempted: Attempted): Promise<Ended> => {
  const most = Math.min(attempted.definition.failure_policy?.max_retries ?? 0, mostRetries)
  for (let attempts = 1; ; attempts += 1) {
    const answered = strictly(attempted.definition, await attemptOnce(parts, attempted))
    if (!('fault' in answered) || attempts > most || attempted.signal.aborted) return { answered, attempts }
    parts.counts.retries += 1
    await parts.clock.sleep(pauseMs * attempts, attempted.signal)
  }
}

/** Enters the call before it is made; gives what enters its outcome. What belongs to no session has no ledger. */
const enter = async (parts: HookParts, { definition, invocation, input }: Attempted) => {
  const ledger = parts.ledger()
  const { session_id, agent_id, run_id } = invocation
  if (ledger === undefined || session_id === undefined) return undefined
  const attempted = { action_id: parts.ids.make('hook'), session_id, attempt: 1 }
  await parts.state.commit((tx) => {
    parts.calls.begin(tx, attempted)
    ledger.intend(tx, {
      ...attempted,
      kind: 'hook',
      ...(agent_id !== undefined && { agent_id }),
      ...(run_id !== undefined && { run_id }),
      target: `${definition.name} (${targetOf(definition)})`,
      request_digest: digest(input),
      approved_by: { type: 'configuration', id: 'hooks' },
    })
  })
  return (outcome: ActionOutcome['outcome'], code?: string): Promise<void> =>
    parts.state.commit((tx) => parts.calls.conclude(tx, attempted, { outcome, ...(code !== undefined && { code }) }))
}

const digestOf = (definition: HookDefinition): string => digest(JSON.parse(JSON.stringify(definition)))

/** What is understood counts. Told once, until somebody has looked at it: a hook may say the same at every call. */
const tellStrange = async (parts: HookParts, attempted: Attempted, { answered, attempts }: Ended): Promise<void> => {
  const { definition } = attempted
  const strange = strangeOf(answered)
  if (strange.length === 0) return
  const definition_digest = digestOf(definition)
  const isTold = parts.letters
    .unresolved()
    .some((letter) => letter.definition_digest === definition_digest && letter.error.startsWith(unknownMembers))
  if (isTold) return
  const error = withoutSecrets(parts.redact)(unknownMembers + strangeText(strange))
  parts.log.warn('what a hook said counts in part', { hook: definition.name, event: attempted.invocation.event, error })
  await bury(parts, attempted, { answered, attempts, error })
}

const bury = async (parts: HookParts, attempted: Attempted, ended: Ended & { readonly error: string }) => {
  const { definition, invocation } = attempted
  const { event, subject, session_id, run_id } = invocation
  const id = parts.ids.make('dead')
  try {
    await parts.state.commit((tx) =>
      parts.letters.add(tx, {
        id,
        at_ms: tx.now,
        hook_name: definition.name,
        event,
        subject,
        session_id,
        run_id,
        target: targetOf(definition),
        attempt_count: ended.attempts,
        failure_mode: definition.failure_policy?.mode ?? 'open',
        contract_version: contractVersion,
        invocation_digest: digest(attempted.input),
        definition_digest: digestOf(definition),
        error: withoutSecrets(parts.redact)(ended.error),
      }),
    )
  } catch (error) {
    parts.counts.unkept += 1
    parts.log.error('a failed hook could not be recorded', { hook: definition.name, error })
  }
}

/** Has the rules of an outcome count; where they cannot, nothing of it does. */
const granted = async (parts: HookParts, { session_id }: Invocation, answered: Answered): Promise<Answered> => {
  if ('fault' in answered || session_id === undefined) return answered
  const { permissions = [] } = answered
  if (permissions.length === 0 || (await parts.permissions.add(session_id, permissions))) return answered
  return { fault: 'there is no room for its permission rules: a session has as many as it may' }
}

/** What a hook may say back of what it was set with, and of the variables that it is passed. */
const ownOf = ({ passed }: HookParts, { executor }: HookDefinition): readonly string[] => {
  if (executor.type === 'http') return secretsInOwnPath(executor.url)
  return executor.type === 'command' ? [...ownSecrets(executor), ...passed()] : []
}

/** It is redacted while the hook is asked; the answer ends that. */
const guardOwn = (parts: HookParts, definition: HookDefinition): (() => void) => {
  const undo = ownOf(parts, definition).map(parts.guard)
  return () => undo.forEach((letGo) => letGo())
}

/** What a host says back of its own address as a whole is redacted too. */
const redactOwn = ({ redact }: HookParts, { executor }: HookDefinition): HookParts['redact'] =>
  executor.type === 'http' ? withoutOwnPath(executor.url, redact) : redact

/** The ruling of one hook; undefined for no objection. Ends when its time is over, whatever the hook does. */
export const askHook = async (
  given: HookParts,
  definition: HookDefinition,
  { invocation, signal: caller }: { readonly invocation: Invocation; readonly signal: AbortSignal },
): Promise<Ruling | undefined> => {
  const parts = { ...given, redact: redactOwn(given, definition) }
  // Behind one that was cut off.
  if (caller.aborted || parts.ending.aborted) return undefined
  const timeout_ms = Number(('timeout_ms' in definition.executor && definition.executor.timeout_ms) || defaultTimeoutMs)
  const timeout = new AbortController()
  const cancel = parts.clock.after(timeout_ms, () => timeout.abort())
  const signal = AbortSignal.any([caller, parts.ending, timeout.signal])
  const attempted = {
    definition,
    invocation,
    input: JSON.stringify(documentOf(definition, invocation, parts.folder)),
    timeout_ms,
    signal,
  }
  parts.counts.executions += 1
  const letGo = guardOwn(parts, definition)
  try {
    const conclude = await enter(parts, attempted)
    const { answered: said, attempts } = await tryAll(parts, attempted)
    const answered = await granted(parts, invocation, said)
    if (!('fault' in answered)) {
      const { ruling } = answered
      await conclude?.('done')
      await tellStrange(parts, attempted, { answered, attempts })
      return ruling && shownRuling(ruling, withoutSecretsInCode(parts.redact))
    }
    // What its caller ended, or the stop of the daemon, is no failure of the hook.
    const isCut = caller.aborted || parts.ending.aborted
    const code = timeout.signal.aborted ? 'hook_timed_out' : isCut ? 'hook_cut_off' : 'hook_failed'
    await conclude?.(isCut ? 'unknown' : 'failed', code)
    if (isCut) return undefined
    const error = timeout.signal.aborted ? `it took longer than ${timeout_ms} ms` : answered.fault
    return await fail(parts, attempted, { answered, attempts, error })
  } finally {
    cancel()
    letGo()
  }
}

const fail = async (
  parts: HookParts,
  attempted: Attempted,
  ended: Ended & { readonly error: string },
): Promise<Ruling | undefined> => {
  const { name, failure_policy } = attempted.definition
  const safe = withoutSecrets(parts.redact)
  const error = safe(ended.error)
  parts.counts.failures += 1
  parts.log.warn('a hook failed', { hook: name, event: attempted.invocation.event, error })
  await bury(parts, attempted, ended)
  if (failure_policy?.mode !== 'closed') return { by: [name], failed: error }
  return shownRuling(blockOf(name, `the hook failed: ${ended.error}`), safe)
}
