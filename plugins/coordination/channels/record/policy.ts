/** How much of a channel agents may fill by themselves. */
import { defaulted, doc, enums, integer, named, object, type Infer } from '../../../../core/plugin.js'

/** Who of the members may be asked to speak, and how eagerly (channels-3). */
export const participationModes = ['manual_only', 'selected_only', 'prefer_selected', 'always_listen'] as const

const count = (least: number, initial: number, text: string) =>
  defaulted(doc(integer({ min: least, max: 1_000_000 }), text), initial)
const span = (least: number, initial: number, text: string) =>
  defaulted(doc(integer({ min: least, max: 31_536_000_000 }), `${text} Milliseconds.`), initial)

/** Bounds of what agents say in a channel; what is left out has its default. */
export const AutonomyPolicy = named(
  'AutonomyPolicy',
  object({
    max_parallel_public_speakers: count(1, 1, 'Sessions that may hold the floor of one thread at a time.'),
    max_agent_replies_per_human_message: count(1, 3, 'Messages of agents behind one message of a person.'),
    member_cooldown_ms: span(0, 15_000, 'How long who spoke in a thread is left out there, unless addressed.'),
    lease_timeout_ms: span(1, 60_000, 'How long a session may hold the floor before the next one is asked.'),
    max_pending_stimuli: defaulted(doc(integer({ min: 1, max: 1_000 }), 'Stimuli that wait at a time.'), 32),
    max_autonomous_root_posts_per_hour: count(0, 4, 'Subjects that stimuli open within an hour.'),
    max_active_autonomous_roots: count(0, 1, 'Subjects of stimuli that are open at a time.'),
    quiet_period_ms_after_root_post: span(0, 300_000, 'How long no further subject is opened behind one.'),
  }),
)
/** The value form of `AutonomyPolicy`. */
export type AutonomyPolicy = Infer<typeof AutonomyPolicy>
/** A member's way to take part. */
export const ParticipationMode = enums(participationModes)
