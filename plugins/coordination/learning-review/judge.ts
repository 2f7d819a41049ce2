/** Asks a model about a candidate: it may decide within what the policy says, and its failure decides nothing. */
import { parse, type JsonObject } from '../../../core/plugin.js'
import type { Consultation, Consultations, Consulted } from '../../execution/consultations/contract.js'
import { GenerationSettings, jsonIn } from '../../execution/models/contract.js'
import type { LearningCandidate, LearningPolicy } from '../learnings/contract.js'
import { briefReason, clamp, decisionIn, judgePrompt, judgeRole, judgeSchema } from './envelope.js'
import type { Action, Baseline } from './evaluate.js'

export interface AskParts {
  readonly consultations: () => Consultations | undefined
  /** Takes known secrets out of a text, and what looks like one. */
  readonly redact: (text: string) => string
}

/** Milliseconds, where the policy says nothing. */
const defaultTimeoutMs = 15_000
const mostAnswer = 16 * 1024

export interface Wish {
  readonly purpose: 'learning_judge' | 'learning_capture'
  /** Of the policy: who is asked, and for how long. */
  readonly asked: Pick<LearningPolicy['judge'], 'model' | 'timeout_ms'>
  readonly source: { readonly session_id?: string | undefined; readonly run_id?: string | undefined }
  readonly system: string
  readonly text: string
  readonly schema: JsonObject
}

const failed = (code: string, message: string): Consulted => ({ type: 'failed', code, message })

/** Asks within the time of the policy. Never rejects. */
export const askModel = async (
  { consultations }: AskParts,
  { purpose, asked, source, ...rest }: Wish,
  signal: AbortSignal,
): Promise<Consulted> => {
  const service = consultations()
  if (service === undefined) return failed('not_available', 'This daemon asks no models outside of runs.')
  const generation = parse(GenerationSettings, asked.model?.generation ?? {})
  if (!generation.ok) return failed('invalid_model', 'The model that the policy names cannot be asked so.')
  const { system, text, schema } = rest
  const consultation: Consultation = {
    purpose,
    session_id: source.session_id,
    run_id: source.run_id,
    route_id: asked.model?.provider,
    generation: generation.value,
    system,
    texts: [text],
    schema,
    timeout_ms: asked.timeout_ms ?? defaultTimeoutMs,
    most: mostAnswer,
  }
  return service.ask(consultation, signal)
}

/** What a judge decided; `action` is what it comes to within the envelope. */
export interface Judged {
  readonly action: Action
  readonly reason: string
  readonly hasFailed: boolean
}

const without = (candidate: LearningCandidate, redact: (text: string) => string): LearningCandidate => ({
  ...candidate,
  content: redact(candidate.content),
  ...(candidate.evidence_refs !== undefined && {
    evidence_refs: candidate.evidence_refs.map((ref) => ({
      ...ref,
      ...(ref.note !== undefined && { note: redact(ref.note) }),
    })),
  }),
})

export interface Asked {
  readonly candidate: LearningCandidate
  readonly baseline: Baseline
  readonly policy: LearningPolicy
}

/** True where a model is asked at all. */
export const isJudged = ({ judge }: Pick<LearningPolicy, 'judge'>, { action }: Pick<Baseline, 'action'>): boolean =>
  judge.enabled && action !== 'manual_review'

export const askJudge = async (
  parts: AskParts,
  { candidate, baseline, policy }: Asked,
  signal: AbortSignal,
): Promise<Judged> => {
  const answer = await askModel(
    parts,
    {
      purpose: 'learning_judge',
      asked: policy.judge,
      source: candidate.source,
      system: judgeRole,
      text: judgePrompt({ candidate: without(candidate, parts.redact), baseline, mode: policy.mode }),
      schema: judgeSchema,
    },
    signal,
  )
  const wrong = (reason: string): Judged => ({
    action: 'manual_review',
    reason: briefReason(parts.redact(reason)),
    hasFailed: true,
  })
  if (answer.type === 'failed') return wrong(`It gave no decision: ${answer.code}: ${answer.message}`)
  const decision = decisionIn(answer.value ?? jsonIn(answer.text))
  if (decision === undefined) return wrong('Its answer is no decision.')
  const action = clamp(baseline.action, decision.action)
  const beyond = action === decision.action ? '' : `It said ${decision.action}, which is not its to say. `
  return { action, reason: briefReason(parts.redact(`${beyond}${decision.reason}`)), hasFailed: false }
}
