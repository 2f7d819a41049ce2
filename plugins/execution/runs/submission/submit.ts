/** Accepting a run: checked, pinned to a route, and durable before anyone is told. */
import { Problem, type JsonObject, type Tx } from '../../../../core/plugin.js'
import type { ReplyHandle } from '../../deliveries/contract.js'
import { interceptionErrors, lockedInterception, pluginInterception } from '../../interception/contract.js'
import type { InterceptedNote } from '../../sessions/contract.js'
import { additionsOf, noteOf } from '../record/intercepted.js'
import type { RunRecord } from '../record/run-record.js'
import type { RunView } from '../views/run-view.js'
import { checkRequirements } from '../lifecycle/completion-checks.js'
import { editRun, type RunEdit } from '../lifecycle/run-changes.js'
import { runErrors } from '../record/errors.js'
import type { ControlContext } from '../lifecycle/executor.js'
import { findFiles, storeFiles, wordBoards } from './files.js'
import { inputText, type Submission, type SubmitInputRequest } from './input.js'
import { checkMetadata, keptMetadata } from '../record/origin.js'
import { recordReceipt, replayed } from '../record/receipts.js'
import { nameGiven } from '../record/run-files.js'
import { bind, bindingKeys, checkKeys } from './bindings.js'
import { keptInput, replyTargets } from './reply.js'
import { chooseRoute, type RouteChoice } from './route-choice.js'
import { activeLane, queuedLane } from '../record/store.js'
import { viewRun } from '../views/shown-run.js'

/** A submission that led to a run; `seen` is how the commit saw it. A repeated one has none. */
export interface Submitted {
  readonly run: RunRecord
  readonly seen?: RunView
}

/** Accepts a run, and starts it if its session and the daemon are free. The answer is durable. */
export const submitRun = async (context: ControlContext, asked: Submission): Promise<Submitted> =>
  acceptRun(context, await prepareRun(context, asked))

/** What needs waiting before a run is accepted: its files, what it requires, where it works, and its interceptors. */
export const prepareRun = async (context: ControlContext, asked: Submission): Promise<Submission> => {
  const submission = await storeFiles(context, asked)
  const {
    session_id,
    input: { completion_requirements: requirements },
    receipt,
  } = submission
  if (requirements !== undefined && requirements.length > 0) {
    context.sessions.get(session_id)
    // A repeated submission is answered by its receipt, whatever the workspace is like by now.
    if (replayed(context.store, receipt) === undefined) await checkRequirements(context.checks, requirements)
  }
  await checkIsolation(context, submission)
  const intercepted = await askPrompt(context, submission)
  return intercepted === undefined ? submission : { ...submission, intercepted }
}

/** Where a run works: it says so itself, or its session does. */
const isolationOf = (
  { sessions }: Pick<ControlContext, 'sessions'>,
  { session_id, input }: Pick<Submission, 'session_id' | 'input'>,
): RunRecord['isolation'] =>
  (input.isolation ?? sessions.get(session_id).isolation) === 'worktree' ? 'worktree' : undefined

/** Throws where the run would fail at its beginning. A repeated submission is answered by its receipt. */
const checkIsolation = async (context: ControlContext, submission: Submission): Promise<void> => {
  if (isolationOf(context, submission) === undefined || replayed(context.store, submission.receipt) !== undefined)
    return
  const { session_id } = submission
  const workspaces = context.store.workspaces()
  if (workspaces === undefined)
    throw runErrors.isolation_unavailable({ details: { reason: 'the plugin worktrees is off', session_id } })
  await workspaces.check(session_id)
}

/**
 * What interceptors make of what a run is told. Throws `hook_blocked`, and `daemon_draining` where a stop cut off who
 * was asked. A repeated submission, and one that cannot be accepted anyway, is not shown to them.
 */
const askPrompt = async (context: ControlContext, submission: Submission): Promise<InterceptedNote | undefined> => {
  const { leaving } = context.host
  const interception = context.interception()
  const { session_id, input, kind = 'input' } = submission
  if (interception?.wants('user_prompt_submit') !== true || kind !== 'input') return undefined
  const admitted = admit(context, submission)
  if ('known' in admitted) return undefined
  leaving.throwIfAborted()
  const ruling = await interception.ask(
    {
      event: 'user_prompt_submit',
      session_id,
      agent_id: admitted.agent_id,
      payload: { prompt: admitted.text, source_plugin: input.source_plugin ?? 'http' },
    },
    leaving,
  )
  leaving.throwIfAborted()
  const { block, by, updated_input, locked, plugin } = ruling
  if (block !== undefined && locked === true) throw lockedInterception.hook_blocked({ details: { reason: block } })
  if (block !== undefined && plugin !== undefined)
    throw pluginInterception.hook_blocked({ details: { plugin, reason: block } })
  if (block !== undefined) throw interceptionErrors.hook_blocked({ details: { hook: by.at(-1) ?? '', reason: block } })
  return noteOf('user_prompt_submit', undefined, typeof updated_input === 'string' ? ruling : additionsOf(ruling))
}

/** Synchronous up to its commit, so that of two equal submissions the second sees the receipt of the first. */
const acceptRun = async (context: ControlContext, submission: Submission): Promise<Submitted> => {
  const admitted = admit(context, submission)
  if ('known' in admitted) return { run: admitted.known }
  return context.store.state.commit((tx) => {
    const run = enter(context, tx, admitted)
    return { run, seen: viewRun(context.store, run) }
  })
}

/**
 * Checks a submission, and gives what accepts it in a commit, or the run that it led to before. To be used in the same
 * turn of the event loop: what was checked holds until then.
 */
export const admitRun = (context: ControlContext, submission: Submission): ((tx: Tx) => RunRecord) => {
  const admitted = admit(context, submission)
  return 'known' in admitted ? () => admitted.known : (tx) => enter(context, tx, admitted)
}

interface Admitted {
  readonly submission: Submission
  readonly text: string
  readonly agent_id: string
  readonly route: RouteChoice
  readonly reply_targets: readonly ReplyHandle[] | undefined
  readonly keys: readonly string[] | undefined
  /** Runs that are queued before it. */
  readonly queued: number
  readonly starts: boolean
}

const admit = (context: ControlContext, asked: Submission): Admitted | { readonly known: RunRecord } => {
  const { store, config, executor } = context
  const { session_id, receipt } = asked
  const session = context.sessions.get(session_id)
  const known = replayed(store, receipt)
  if (known !== undefined) return { known }
  if (session.ended_at_ms !== undefined) throw runErrors.session_ended({ details: { session_id } })
  const submission = findFiles(context.assets(), asked)
  const { input } = submission
  const text = inputText(input, submission.files)
  checkMetadata(context.reserved(), input.metadata)
  const route = chooseRoute(context, session, input)
  const missing = context.missing(session_id)
  if (missing !== undefined)
    throw runErrors.required_tools_missing({ details: { missing, session_id }, retryAfter: 30 })
  const reply_targets = submission.targets === 'none' ? [] : replyTargets(store.outbox, input)
  const keys = input.binding_keys === undefined ? undefined : bindingKeys(input.binding_keys)
  if (keys !== undefined) checkKeys(store, { keys, session_id })
  const { busy, queued } = queueOf(context, session_id)
  if (submission.alone === true && busy) throw runErrors.session_busy({ details: { session_id } })
  if (queued >= config.max_queued_runs)
    throw runErrors.run_queue_full({ details: { session_id, limit: config.max_queued_runs } })
  const starts = submission.patient !== true && !busy && executor.free()
  return { submission, text, agent_id: session.agent_id, route, reply_targets, keys, queued, starts }
}

/** Writes a run that was admitted. It is executed when that is durable. */
const enter = (context: ControlContext, tx: Tx, admitted: Admitted): RunRecord => {
  const { store, executor } = context
  const { submission, text, route, keys, queued, starts } = admitted
  const { session_id, input, receipt, intercepted } = submission
  const edit = editRun(context, tx, recordOf(context, tx, admitted))
  const metadata = keptMetadata(context.reserved(), input.metadata)
  accept(edit, metadata, {
    text,
    files: submission.files,
    intercepted,
    position: queued + 1,
    generation: route.generation,
  })
  nameGiven({ tx, files: store.files, run: edit.run, assets: context.assets }, namedBy(submission))
  if (keys !== undefined) bind(store, tx, { keys, session_id })
  if (starts) edit.step({ to: 'running' }, { type: 'started' })
  recordReceipt(store, tx, { receipt, run_id: edit.run.run_id })
  const run = edit.save()
  if (submission.patient !== true) tx.after(() => (starts ? executor.launch(run.run_id) : executor.wake(session_id)))
  return run
}

/**
 * Throws for what can never be accepted; a route that is not ready now may be later. Gives the input as it may be
 * stored.
 */
export const checkSubmission = (
  { models, store: { outbox }, sessions, reserved, assets, boards }: ControlContext,
  { session_id, input }: Pick<Submission, 'session_id' | 'input'>,
): SubmitInputRequest => {
  const found = findFiles<Pick<Submission, 'input' | 'files'>>(assets(), { input: wordBoards(boards(), input) })
  inputText(found.input, found.files)
  checkMetadata(reserved(), input.metadata)
  replyTargets(outbox, input)
  if (input.binding_keys !== undefined) bindingKeys(input.binding_keys)
  try {
    chooseRoute({ models, sessions }, sessions.get(session_id), input)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'route_not_ready') throw error
  }
  const keep = outbox()?.keep
  return keep === undefined ? input : keptInput(keep, input)
}

const queueOf = ({ store }: ControlContext, session_id: string): { busy: boolean; queued: number } => {
  const queued = store.runs.count('lane', queuedLane(session_id))
  return { queued, busy: queued > 0 || store.runs.count('lane', activeLane(session_id)) > 0 }
}

/** Each once: the files that the run is told of, and what else it names. */
const namedBy = ({ files = [], named = [] }: Submission): { readonly id: string }[] =>
  [...new Set([...files.map(({ id }) => id), ...named])].map((id) => ({ id }))

interface Accepted {
  readonly text: string
  readonly files: Submission['files']
  readonly intercepted: InterceptedNote | undefined
  readonly position: number
  readonly generation: JsonObject | undefined
}

const accept = (
  edit: RunEdit,
  metadata: JsonObject | undefined,
  { text, files, intercepted, position, generation }: Accepted,
): void => {
  edit.event({
    type: 'accepted',
    content: text,
    ...(files !== undefined && files.length > 0 && { files: [...files] }),
    ...(metadata !== undefined && { metadata }),
    ...(generation !== undefined && { generation }),
  })
  if (intercepted !== undefined) edit.note({ type: 'intercepted', ...intercepted })
  edit.enqueue(position)
}

const recordOf = (
  context: ControlContext,
  { now }: Tx,
  { submission, text, agent_id, route, reply_targets }: Admitted,
): RunRecord => {
  const { session_id, input, kind, origin, retry_of, files, max_turns } = submission
  const isolation = isolationOf(context, submission)
  return {
    run_id: context.ids.make('run'),
    session_id,
    agent_id,
    kind: kind ?? 'input',
    status: 'queued',
    submitted_at_ms: now,
    updated_at_ms: now,
    source_plugin: input.source_plugin ?? 'http',
    source_kind: input.source_kind ?? 'api',
    actor_id: input.actor_id ?? 'operator',
    text_preview: preview(submission.preview ?? (text === '' ? (files?.[0]?.file_name ?? '') : text)),
    provider: route.provider,
    model: route.model,
    pinned: context.pin(),
    first: context.store.journal.length(session_id) + 1,
    last: 0,
    owner: context.store.state.health.generation,
    ...(input.completion_requirements !== undefined &&
      input.completion_requirements.length > 0 && {
        completion: { requirements: input.completion_requirements, reminders: 0 },
      }),
    ...(route.fallback_model !== undefined && { fallback_model: route.fallback_model }),
    ...(origin !== undefined && { origin }),
    ...(reply_targets !== undefined && { reply_targets }),
    ...(retry_of !== undefined && { retry_of }),
    ...(isolation !== undefined && { isolation }),
    ...(max_turns !== undefined && { max_turns }),
  }
}

const previewLength = 200
/** The beginning of a text, cut between code points. */
const preview = (text: string): string =>
  text.length <= previewLength
    ? text
    : Array.from(text.slice(0, previewLength * 2))
        .slice(0, previewLength)
        .join('')
