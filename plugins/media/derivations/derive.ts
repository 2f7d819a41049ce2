/** Derives something once: what is there already answers, and equal requests that come at the same time share one. */
import { canonical, Problem, redactedTo, refuted, type Ids } from '../../../core/plugin.js'
import type { Assets } from '../assets/contract.js'
import type {
  DerivationProfile,
  DerivationSubject,
  DerivationView,
  DerivationWish,
  Derived,
  Material,
  Subject,
  SubjectKind,
  TranscriptionOptions,
} from './contract.js'
import { derivationErrors } from './errors.js'
import { createLane } from './lane.js'
import { normalOptions } from './options.js'
import { readSubject } from './subject.js'
import { madeOf, viewOf, type DerivationStore, type StoredDerivation } from './store.js'

/** One request. */
export interface DerivationRequest {
  readonly profile: string
  readonly subject: DerivationSubject
  readonly transcription?: TranscriptionOptions | undefined
  /** To derive it anew, whatever is there. */
  readonly force: boolean
  /** To derive it anew where it failed. */
  readonly retry: boolean
}

export interface DeriveParts {
  readonly store: DerivationStore
  readonly assets: Assets
  readonly ids: Ids
  readonly profiles: () => readonly DerivationProfile[]
  readonly subjects: () => readonly SubjectKind[]
  readonly redact: (text: string) => string
  readonly signal: AbortSignal
}

/** Rejects with what stands in its way; where that is recorded, the problem has the `derivation_id`. */
export type Derive = (request: DerivationRequest) => Promise<DerivationView>

const unknown = (path: string, known: readonly string[]): Problem =>
  derivationErrors.derivation_invalid({
    details: { reason: `there is no such ${path}` },
    errors: [{ path: `body.${path}`, rule: `must be one of ${known.toSorted().join(', ')}` }],
  })

/** What a request means. */
interface Read {
  readonly profile: DerivationProfile
  readonly kind: SubjectKind
  readonly subject: Subject
  readonly options: TranscriptionOptions | undefined
}

const read = ({ profiles, subjects }: DeriveParts, request: DerivationRequest): Read => {
  const profile = profiles().find((one) => one.profile === request.profile)
  if (profile === undefined)
    throw unknown(
      'profile',
      profiles().map((one) => one.profile),
    )
  const kind = subjects().find(({ type }) => type === request.subject.type)
  if (kind === undefined)
    throw unknown(
      'subject.type',
      subjects().map(({ type }) => type),
    )
  return { profile, kind, subject: readSubject(kind, request.subject), options: normalOptions(request.transcription) }
}

/** With the words that came with it. */
export const wholeFingerprint = ({ fingerprint, canonical: words }: Material): string =>
  words === undefined ? fingerprint : `${fingerprint}:canonical:${words.media_type}:${words.sha256}`

const fingerprintOf = (profile: DerivationProfile, wish: DerivationWish): string =>
  profile.fingerprint?.(wish) ?? wholeFingerprint(wish.material)
const keyOf = ({ profile, subject }: Read, fingerprint: string): string =>
  `${profile.profile}@v${profile.version}:${subject.key}:${fingerprint}`

/** Why a record that was completed is not any more. */
export const goneText = 'Its result is no longer there.'
export const isGone = (assets: Assets, record: StoredDerivation): boolean =>
  record.status === 'completed' && !madeOf(record).every((asset_id) => assets.isWhole(asset_id))

/** The preferred record whose result is there; those whose result is gone fail. */
const findKept = async (parts: DeriveParts, key: string): Promise<StoredDerivation | undefined> => {
  const { store, assets } = parts
  const found = store.find(key)
  if (found === undefined || !isGone(assets, found)) return found
  await store.state.commit((tx) => store.fail(tx, found, goneText))
  return findKept(parts, key)
}

/** A plugin of others may name assets that are not there: that is no fault of whoever asks. */
const checkNamed = (assets: Assets, ids: readonly (string | undefined)[], of: [contribution: object, name: string]) => {
  const lacking = ids.find((id) => id !== undefined && assets.find(id) === undefined)
  const wrong = lacking === undefined ? undefined : refuted(...of, `it named the asset ${lacking}, which is not there`)
  if (wrong !== undefined) throw wrong
}

const materialOf = async (assets: Assets, { kind, subject }: Read): Promise<Material> => {
  const material = await subject.resolve()
  checkNamed(assets, [material.asset?.asset_id, material.canonical?.asset?.asset_id], [kind, 'resolve'])
  return material
}

const derivedOf = async (
  { assets, signal }: Pick<DeriveParts, 'assets' | 'signal'>,
  { profile }: Read,
  wish: DerivationWish,
): Promise<Derived> => {
  const derived = await profile.derive(wish, signal)
  if (derived.type === 'failed') return derived
  const { asset, canonical: words } = wish.material
  // What it was given may have been deleted meanwhile.
  const given = [asset?.asset_id, words?.asset?.asset_id]
  const made = [derived.result.asset_id, derived.timestamps?.asset_id].filter((id) => !given.includes(id))
  checkNamed(assets, made, [profile, 'derive'])
  return derived
}

export const createDerive = (parts: DeriveParts): Derive => {
  const { store, assets, ids, redact } = parts
  const inLane = createLane()
  const flights = new Map<string, Promise<StoredDerivation>>()

  const recorded = (asked: Read, wish: DerivationWish, derived: Derived): Promise<StoredDerivation> =>
    store.state.commit((tx) => {
      const { profile, subject } = asked
      const { asset } = wish.material
      // It may have been deleted meanwhile.
      if (asset !== undefined) assets.get(asset.asset_id)
      const attached = derived.type === 'completed' && derived.attach === true && subject.attach !== undefined
      if (attached) subject.attach?.(tx, assets.get(derived.result.asset_id))
      const material = attached ? { ...wish.material, canonical: assets.get(derived.result.asset_id) } : wish.material
      const source_fingerprint = fingerprintOf(profile, { ...wish, material })
      const record: StoredDerivation = {
        derivation_id: ids.make('derivation'),
        profile: profile.profile,
        profile_version: profile.version,
        subject: subject.value,
        source_fingerprint,
        key: keyOf(asked, source_fingerprint),
        ...(asset !== undefined && { subject_asset_id: asset.asset_id }),
        ...outcomeOf(derived, asset?.asset_id, redact),
        created_at_ms: tx.now,
      }
      for (const asset_id of madeOf(record)) assets.get(asset_id)
      store.add(tx, record)
      return record
    })

  const made = async (asked: Read, wish: DerivationWish): Promise<StoredDerivation> => {
    const derived = await derivedOf(parts, asked, wish)
    const record = await recorded(asked, wish, derived)
    if (derived.type === 'completed') return record
    const { code, spec, occurrence } = derived.problem
    throw new Problem(code, spec, { ...occurrence, members: { derivation_id: record.derivation_id } })
  }
  type Found = { readonly record: StoredDerivation; readonly cache_status: 'hit' | 'miss' }
  const attempt = async (asked: Read, { force, retry }: DerivationRequest): Promise<Found> => {
    const wish = { material: await materialOf(assets, asked), options: asked.options, force }
    asked.profile.check?.(wish)
    const kept = await findKept(parts, keyOf(asked, fingerprintOf(asked.profile, wish)))
    if (kept !== undefined && !force && !(retry && kept.status === 'failed'))
      return { record: kept, cache_status: 'hit' }
    return { record: await made(asked, wish), cache_status: 'miss' }
  }
  return async (request) => {
    const asked = read(parts, request)
    const lane = `${asked.profile.profile} ${asked.subject.key}`
    const identity = canonical([lane, asked.options ?? {}, request.force, request.retry])
    const running = flights.get(identity)
    if (running !== undefined) return { ...viewOf(await running), cache_status: 'hit' }
    const flight = inLane(lane, () => attempt(asked, request))
    const record = flight.then((found) => found.record).finally(() => flights.delete(identity))
    record.catch(() => {})
    flights.set(identity, record)
    const { cache_status } = await flight
    return { ...viewOf(await record), cache_status }
  }
}

/** Characters of why something failed. */
const mostError = 4_000

type Outcome = Pick<StoredDerivation, 'status' | 'result_asset_id' | 'reused_subject_asset' | 'error' | 'backend'>
const outcomeOf = (derived: Derived, subject_asset_id: string | undefined, redact: DeriveParts['redact']): Outcome => {
  if (derived.type === 'failed')
    return {
      status: 'failed',
      reused_subject_asset: false,
      error: redactedTo(derived.problem.message, mostError, redact),
    }
  const { result, timestamps, backend } = derived
  return {
    status: 'completed',
    result_asset_id: result.asset_id,
    reused_subject_asset: result.asset_id === subject_asset_id,
    ...(backend && { backend: { ...backend, ...(timestamps && { timestamp_asset_id: timestamps.asset_id }) } }),
  }
}
