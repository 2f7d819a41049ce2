/** What the operator decided about learnings: what is captured, what is published by itself, who judges. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  notBlank,
  nullable,
  object,
  optional,
  rule,
  string,
  type Infer,
} from '../../../core/plugin.js'
import { learningKinds, scopeKinds, sensitivities } from '../../execution/memory/contract.js'
import { defineSetting } from '../../operator/runtime/contract.js'
import { learningErrors } from './errors.js'

const mostRules = 200
const Name = string({ max: 200, pattern: notBlank })
/** What may become of a candidate without a person. */
export const policyActions = ['manual_review', 'reject', 'publish_provisional', 'publish_active'] as const
const Action = enums(policyActions)
const Model = nullable(object({ provider: optional(string({ max: 200 })), generation: optional(jsonObject()) }))

/** Of whoever is asked about learnings. */
const asked = {
  enabled: defaulted(boolean(), false),
  model: defaulted(doc(Model, 'Who is asked; null for the model of the run.'), null),
  timeout_ms: defaulted(doc(nullable(integer({ min: 1, max: 600_000 })), 'Null for the default. Milliseconds.'), null),
}
const nobody = { enabled: false, model: null, timeout_ms: null }

const Rule = named(
  'LearningRule',
  object({
    name: Name,
    scope_kind: optional(enums(scopeKinds)),
    scope_id: optional(Name),
    kind: optional(enums(learningKinds)),
    sensitivity: optional(enums(sensitivities)),
    min_confidence: optional(integer({ min: 0, max: 100 })),
    require_evidence: defaulted(boolean(), false),
    require_source_run: defaulted(boolean(), false),
    require_source_session: defaulted(boolean(), false),
    action: doc(Action, '`publish_active` needs a kind, and never a procedure.'),
    expires_after_ms: optional(doc(integer({ min: 1 }), 'From the publication. Milliseconds.')),
  }),
)

const Publication = object({
  default_action: defaulted(doc(Action, 'Where no rule matches; never `publish_active`.'), 'manual_review'),
  allow_api_origin_active_publication: defaulted(boolean(), false),
  quarantined_rule_names: defaulted(doc(array(Name, { max: mostRules }), 'Rules that are set aside.'), []),
  rules: defaulted(doc(array(Rule, { max: mostRules }), 'The first one that matches counts.'), []),
})

const noSemantics = { ...nobody, max_candidates_per_run: 2 }
const noCapture = { run_summary_candidates: true, semantic_candidates: noSemantics }
const noRules: Infer<typeof Publication> = {
  default_action: 'manual_review',
  allow_api_origin_active_publication: false,
  quarantined_rule_names: [],
  rules: [],
}

const mode = doc(
  enums(['manual_only', 'shadow', 'enabled']),
  'Nothing by itself; only a note of what would be done; done by itself.',
)
const parts = {
  capture: object({
    run_summary_candidates: defaulted(boolean(), true),
    semantic_candidates: defaulted(
      object({ ...asked, max_candidates_per_run: defaulted(integer({ min: 1, max: 8 }), 2) }),
      noSemantics,
    ),
  }),
  publication: Publication,
  judge: object(asked),
}

/** What is done about learnings; what a change leaves out gets its default. */
export const LearningPolicy = named(
  'LearningPolicy',
  object({
    mode: defaulted(mode, 'shadow'),
    capture: defaulted(parts.capture, noCapture),
    publication: defaulted(parts.publication, noRules),
    judge: defaulted(parts.judge, nobody),
  }),
)
export type LearningPolicy = Infer<typeof LearningPolicy>

interface Guard {
  /** Throws `learning_secret` with the path alone. */
  refuse(text: string | undefined, path: string): void
}
type Fault = { readonly path: string; readonly rule: string }

const repeated = (names: readonly string[]): Fault[] =>
  names.flatMap((name, at) =>
    names.slice(0, at).some((other) => other.trim().toLowerCase() === name.trim().toLowerCase())
      ? [{ path: `quarantined_rule_names.${at}`, rule: 'must not be named twice' }]
      : [],
  )

/** What of a policy fits its struct and cannot hold. */
const faultsOf = ({ publication: { default_action, quarantined_rule_names, rules } }: LearningPolicy): Fault[] => [
  ...(default_action === 'publish_active' ? [{ path: 'default_action', rule: 'must not be publish_active' }] : []),
  ...repeated(quarantined_rule_names),
  ...rules.flatMap(({ action, kind }, at) => {
    if (action !== 'publish_active' || (kind !== undefined && kind !== 'procedure')) return []
    const what = kind === undefined ? 'must name a kind to publish_active' : 'must not publish_active a procedure'
    return [{ path: `rules.${at}.kind`, rule: what }]
  }),
]

const some = {
  mode: optional(mode),
  capture: optional(parts.capture),
  publication: optional(parts.publication),
  judge: optional(parts.judge),
}

/** The policy of the configuration, by the same rules. */
export const ConfiguredPolicy = rule(
  LearningPolicy,
  'must publish actively only by rules with a kind other than procedure, and set each rule aside once',
  (policy) => faultsOf(policy).length === 0,
)

/** `place` is where the policy stands in the body. */
const checkPolicy = (policy: LearningPolicy, place: string): void => {
  const faults = faultsOf(policy).map(({ path, rule }) => ({ path: `${place}.publication.${path}`, rule }))
  if (faults.length > 0) throw learningErrors.invalid_learning_policy({ errors: faults })
}

/** Names and ids are shown to whoever reads the policy, and names with what a rule decided. */
const checkSecrets = (
  { publication: { rules, quarantined_rule_names: aside } }: LearningPolicy,
  guard: Guard,
  place: string,
): void => {
  const path = `${place}.publication`
  for (const [at, { name, scope_id }] of rules.entries()) {
    guard.refuse(name, `${path}.rules.${at}.name`)
    guard.refuse(scope_id, `${path}.rules.${at}.scope_id`)
  }
  for (const [at, name] of aside.entries()) guard.refuse(name, `${path}.quarantined_rule_names.${at}`)
}

const modeless = (place: string) => ({ errors: [{ path: `${place}.mode`, rule: 'must be given' }] })

const empty = { errors: [{ path: 'body', rule: 'must have mode, or policy with its mode' }] }

const twofold = { errors: [{ path: 'body.policy', rule: 'must not be there beside its members' }] }

/** The policy of learnings; a change says all of it. */
export const learningPolicy = (configured: LearningPolicy, guard: Guard) =>
  defineSetting({
    name: 'learning_policy',
    schema: LearningPolicy,
    initial: () => configured,
    check(policy) {
      checkPolicy(policy, 'body.policy')
    },
    change: {
      path: 'learning-policy',
      summary: 'Sets what is done about learnings, all of it: what is not named gets its default.',
      fields: {
        policy: optional(doc(object(some), 'The policy; its members may also stand in the body itself.')),
        ...some,
      },
      value({ policy, ...flat }): LearningPolicy {
        const isFlat = Object.values(flat).some((value) => value !== undefined)
        if (policy !== undefined && isFlat) throw learningErrors.invalid_learning_policy(twofold)
        if (policy === undefined && !isFlat) throw learningErrors.invalid_learning_policy(empty)
        const place = isFlat ? 'body' : 'body.policy'
        const { mode, capture, publication, judge } = policy ?? flat
        if (mode === undefined) throw learningErrors.invalid_learning_policy(modeless(place))
        const asked = {
          mode,
          capture: capture ?? noCapture,
          publication: publication ?? noRules,
          judge: judge ?? nobody,
        }
        checkPolicy(asked, place)
        // Not in `check`: a policy that was kept before holds on.
        checkSecrets(asked, guard, place)
        return asked
      },
      invalid: learningErrors.invalid_learning_policy,
      problems: [learningErrors.learning_secret],
      example: { policy: { mode: 'shadow' } },
    },
  })
