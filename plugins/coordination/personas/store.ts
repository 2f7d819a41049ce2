import { hash } from 'node:crypto'
import { type Collection, type CollectionSpec, type State, type Tx, canonical } from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import type { PersonaSkills } from '../../operator/skills/contract.js'
import type { Persona } from './contract.js'
import { draftOf, refuse, type PersonaDraft, type PersonaRequest } from './draft.js'
import { personaErrors } from './errors.js'
import { frozenSkills } from './frozen.js'
import { declareKept, soulCollection, type Souls } from './kept.js'
import { StoredPersona } from './record.js'

const personaCollection: CollectionSpec<StoredPersona> = {
  name: 'personas',
  version: 2,
  id: ({ persona_id }) => persona_id,
  indexes: { all: { group: () => 'all' }, soul: { group: ({ soul_sha256 }) => soul_sha256 } },
  settled: () => true,
  schema: StoredPersona,
  references: ({ soul_sha256 }) => (soul_sha256 === undefined ? [] : [{ collection: 'souls', id: soul_sha256 }]),
}

export interface PersonaStore {
  readonly collection: Collection<StoredPersona>
  readonly souls: Souls
  /** Throws `persona_not_found` (404). */
  find(persona_id: string): StoredPersona
  get(persona_id: string): Persona
  create(persona_id: string, asked: PersonaRequest): Promise<Persona>
  /** A request that changes nothing leaves version and time as they are. */
  replace(persona_id: string, asked: PersonaRequest): Promise<Persona>
  /** Writes a persona; returns the record. */
  put(tx: Tx, persona: Persona): StoredPersona
}

export interface PersonaParts {
  readonly state: State
  /** Whether a session names this soul. */
  readonly namesSoul: (sha256: string) => boolean
  readonly skills: () => PersonaSkills | undefined
}

export const createPersonas = ({ state, namesSoul, skills }: PersonaParts): PersonaStore => {
  const collection = state.collection(personaCollection)
  const souls = declareKept(
    state,
    soulCollection,
    (sha256) => collection.count('soul', sha256) > 0 || namesSoul(sha256),
  )
  const find = (persona_id: string): StoredPersona => {
    const persona = collection.find(persona_id)
    if (persona === undefined) throw sessionErrors.persona_not_found({ details: { persona_id } })
    return persona
  }
  const soulOf = ({ soul, soul_sha256 = '' }: StoredPersona): string => soul ?? souls.get(soul_sha256).text
  const get = (persona_id: string): Persona => {
    const stored = find(persona_id)
    const { display_name, version, created_at_ms, updated_at_ms } = stored
    return {
      persona_id,
      display_name,
      soul: soulOf(stored),
      ...extrasOf(stored),
      version,
      created_at_ms,
      updated_at_ms,
    }
  }
  const put = (tx: Tx, { soul, ...persona }: Persona): StoredPersona => {
    const before = collection.find(persona.persona_id)?.soul_sha256
    const stored: StoredPersona = {
      ...persona,
      soul_sha256: souls.keep(tx, { sha256: hash('sha256', soul), text: soul }),
    }
    tx.put(collection, stored)
    if (before !== undefined && before !== stored.soul_sha256) souls.letGo(tx, before)
    return stored
  }
  /** The draft, its default skills tried as a binding would freeze them. */
  const checked = (persona_id: string, before: PersonaDraft | undefined, asked: PersonaRequest): PersonaDraft => {
    const draft = draftOf(before, asked)
    const tried = frozenSkills({ ...draft, persona_id }, skills())
    return tried.ok ? draft : refuse(tried.field, tried.rule)
  }
  return {
    collection,
    souls,
    find,
    get,
    put,
    create: (persona_id, asked) =>
      state.commit((tx) => {
        if (collection.has(persona_id)) throw personaErrors.persona_already_exists({ details: { persona_id } })
        const persona: Persona = {
          persona_id,
          ...checked(persona_id, undefined, asked),
          version: 1,
          created_at_ms: tx.now,
          updated_at_ms: tx.now,
        }
        put(tx, persona)
        return persona
      }),
    replace: (persona_id, asked) =>
      state.commit((tx) => {
        const before = get(persona_id)
        const draft = checked(persona_id, settable(before), asked)
        if (canonical(draft) === canonical(settable(before))) return before
        const persona: Persona = {
          persona_id,
          ...draft,
          version: before.version + 1,
          created_at_ms: before.created_at_ms,
          updated_at_ms: Math.max(tx.now, before.updated_at_ms),
        }
        put(tx, persona)
        return persona
      }),
  }
}

type Extras = Pick<PersonaDraft, 'capability_scope' | 'default_skills' | 'metadata'>
const extrasOf = ({ capability_scope, default_skills, metadata }: Pick<StoredPersona, keyof Extras>): Extras => ({
  ...(capability_scope !== undefined && { capability_scope }),
  ...(default_skills !== undefined && { default_skills }),
  ...(metadata !== undefined && { metadata }),
})

const settable = (persona: Persona): PersonaDraft => ({
  display_name: persona.display_name,
  soul: persona.soul,
  ...extrasOf(persona),
})
