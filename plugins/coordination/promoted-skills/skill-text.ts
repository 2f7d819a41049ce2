/** A promoted skill on the terminal: what it is, what was shown of it, and what comes next. */
import {
  array,
  boolean,
  commandLine,
  count,
  number,
  open,
  optional,
  showTime,
  string,
  timestamp,
  visible,
  visibleLine,
  type Infer,
} from '../../../core/plugin.js'

const fields = {
  skill_name: string(),
  status: string(),
  source_learning_id: string(),
  description: string(),
  successful_run_count: number(),
  canary_success_count: number(),
  canary_failure_count: number(),
}
const Event = open({
  event: string(),
  recorded_at_ms: timestamp(),
  rollout_kind: optional(string()),
  run_id: optional(string()),
  success: optional(boolean()),
  reason: optional(string()),
})
/** A promoted skill in a list. */
export const Skill = open(fields)
type Skill = Infer<typeof Skill>
/** One with the run whose result was recorded. */
export const CountedSkill = open({
  ...fields,
  shown_run_id: optional(string()),
  lifecycle_events: optional(array(Event)),
})
/** One with what has become of it. */
export const WholeSkill = open({
  ...fields,
  verification_status: string(),
  when_to_use: optional(string()),
  version: optional(string()),
  instructions: string(),
  definition_fingerprint: string(),
  skill_path: string(),
  runtime: open({
    allowed_tools: optional(array(string())),
    blocked_tools: optional(array(string())),
    agent_profile: string(),
    provider: optional(string()),
    model: optional(string()),
    fallback_model: optional(string()),
  }),
  promoted_at_ms: timestamp(),
  rollout_began_at_ms: optional(timestamp()),
  revoked_at_ms: optional(timestamp()),
  revoked_reason: optional(string()),
  lifecycle_events: optional(array(Event)),
})
type WholeSkill = Infer<typeof WholeSkill>

type Canaries = Pick<Skill, 'canary_success_count' | 'canary_failure_count'>
const canaries = ({ canary_success_count: good, canary_failure_count: bad }: Canaries): string =>
  good + bad === 0 ? 'no run as a canary' : `as a canary ${good} good and ${bad} bad of ${count(good + bad, 'run')}`

export const showSkill = (skill: Skill): string =>
  [
    visibleLine(skill.skill_name),
    visibleLine(skill.status),
    `of ${visibleLine(skill.source_learning_id)}`,
    `${count(skill.successful_run_count, 'good run')}, ${canaries(skill)}`,
    visibleLine(skill.description),
  ].join('  ')

export const showSkills = (rows: Skill[]): string =>
  rows.length === 0
    ? 'No learning is promoted yet. Promote one: ' +
      'holdfast learnings promote-skill LEARNING_ID SKILL_NAME --instructions TEXT'
    : rows.map(showSkill).join('\n')

type Event = Infer<typeof Event>

const resultWords = ({ rollout_kind = 'verification', success, reason }: Event): string =>
  `${success === true ? 'good' : 'bad'} as ${visibleLine(rollout_kind)}` +
  (reason === undefined ? '' : `: ${visibleLine(reason)}`)

const resultsOf = ({ lifecycle_events = [], rollout_began_at_ms, promoted_at_ms }: WholeSkill): Event[] =>
  lifecycle_events.filter(
    ({ event, recorded_at_ms }) =>
      event === 'rollout_result' && recorded_at_ms >= (rollout_began_at_ms ?? promoted_at_ms),
  )

/** A run counts once, so what it counts as is told and not what was asked. */
export const showCounted = (skill: Infer<typeof CountedSkill>): string => {
  const counted = skill.lifecycle_events?.findLast((event) => event.run_id === skill.shown_run_id)
  const words = counted?.run_id === undefined ? [] : [`${visibleLine(counted.run_id)} counts ${resultWords(counted)}`]
  return [...words, showSkill(skill)].join('\n')
}

const newRun = 'a run that is told the instructions and begins from now on'
const verifying = 'holdfast agents spawn AGENT_ID NAME TEXT --type verification'

/** What comes next, and the lines for it. */
const nextOf = (skill: WholeSkill): readonly string[] => {
  const { skill_name, source_learning_id, status, verification_status } = skill
  const step = (to: string): string =>
    commandLine(`learnings promote-skill --status ${to}`, source_learning_id, skill_name)
  const record = (kind: string): readonly string[] => [
    verifying,
    commandLine(`learning-skills rollout-result --kind ${kind}`, skill_name, 'RUN_ID', 'MARKER'),
  ]
  if (status === 'draft' && verification_status !== 'verified')
    return [`to be verified it takes ${newRun}:`, ...record('verification')]
  if (status === 'draft') return ['a run has verified it; to be verified it takes a word:', step('verified')]
  if (status === 'verified') return ['to be tried as a canary it takes a word:', step('canary')]
  if (status === 'canary' && skill.canary_failure_count > 0)
    return ['after a bad run as a canary it begins again as a draft:', step('draft')]
  if (status === 'canary' && skill.canary_success_count === 0)
    return [`to be active it takes a canary, ${newRun} and is another one than before:`, ...record('canary')]
  if (status === 'canary') return ['a run has shown it as a canary; to be active it takes a word:', step('active')]
  if (status === 'active')
    return ['models use it. To change it, revoke it first:', commandLine('learning-skills revoke', skill_name)]
  return [
    'back to what it was when it was active, or begun anew as a draft:',
    commandLine('learning-skills rollback', skill_name),
    `${commandLine('learnings promote-skill', source_learning_id, skill_name)} --instructions TEXT`,
  ]
}

const mostResults = 20

const timesOf = ({ promoted_at_ms, rollout_began_at_ms, revoked_at_ms, revoked_reason }: WholeSkill): string[] => [
  `promoted  ${showTime(promoted_at_ms)}`,
  ...(rollout_began_at_ms === undefined ? [] : [`says this since  ${showTime(rollout_began_at_ms)}`]),
  ...(revoked_at_ms === undefined ? [] : [`revoked  ${showTime(revoked_at_ms)}  ${visibleLine(revoked_reason ?? '')}`]),
]

const settingsOf = ({ runtime }: WholeSkill): string[] =>
  Object.entries(runtime).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}  ${visibleLine(Array.isArray(value) ? value.join(', ') : String(value))}`],
  )

export const showWhole = (skill: WholeSkill): string => {
  const { description, when_to_use, version, instructions, definition_fingerprint, skill_path, status } = skill
  const results = resultsOf(skill)
  return [
    showSkill({ ...skill, description: version === undefined ? '' : `version ${version}` }).trimEnd(),
    visibleLine(description),
    ...(when_to_use === undefined ? [] : [`when to use: ${visibleLine(when_to_use)}`]),
    '',
    ...timesOf(skill),
    `fingerprint  ${visibleLine(definition_fingerprint)}`,
    ...settingsOf(skill),
    ...(status === 'active' ? [`file  ${visibleLine(skill_path)}`] : []),
    '',
    results.length === 0 ? 'no results yet' : 'results',
    ...results
      .slice(-mostResults)
      .map((one) => `  ${showTime(one.recorded_at_ms)}  ${visibleLine(one.run_id ?? '')}  ${resultWords(one)}`),
    '',
    ...nextOf(skill).map((line, at) => (at === 0 ? `next: ${line}` : `  ${line}`)),
    '',
    visible(instructions),
  ].join('\n')
}
