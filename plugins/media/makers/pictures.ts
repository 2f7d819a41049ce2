/** The tools that make pictures. */
import { array, defaulted, doc, integer, object, optional, Problem, string, type Infer } from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import type { Assets } from '../assets/contract.js'
import type { Chosen, Making } from './choice.js'
import { mostMade, type GivenPicture, type Made, type MediaServer, type PictureWish } from './wishes.js'
import { makerErrors } from './errors.js'
import { chosenFor, makeMedia, problemOf, type MakingParts } from './making.js'
import { mostMs } from './server.js'

/** Pictures that may be given. */
const mostGiven = 8

const wished = {
  prompt: doc(string({ min: 1, max: 32_000 }), 'What is to be seen.'),
  size: optional(
    doc(
      string({
        max: 11,
        pattern: '^(?:auto|[0-9]{2,5}x[0-9]{2,5}|[0-9]{1,2}:[0-9]{1,2})$',
        told: 'must be auto, pixels such as 1024x1024, or a shape such as 16:9',
      }),
      'Such as `1024x1024` pixels, or `16:9`.',
    ),
  ),
  count: defaulted(doc(integer({ min: 1, max: mostMade }), 'How many.'), 1),
  provider: optional(doc(string({ min: 1, max: 200 }), 'The model route; one that can when absent.')),
  model: optional(doc(string({ min: 1, max: 200, pattern: '^\\S+$' }), 'Its model; that of the route when absent.')),
}
const GenerateInput = object(wished)
const EditInput = object({
  ...wished,
  image_asset_ids: optional(
    doc(
      array(string({ min: 1, max: 200 }), { max: mostGiven }),
      'The pictures to edit; the one picture of the input of this run when absent.',
    ),
  ),
})
type GenerateInput = Infer<typeof GenerateInput>
type EditInput = Infer<typeof EditInput>

const unfit = (reason: string): Problem => makerErrors.media_input_unfit({ details: { reason } })

/** What its first bytes say; undefined for whatever is not stored. */
const pictureType = (bytes: Uint8Array): 'image/png' | 'image/jpeg' | undefined => {
  const begin = Buffer.from(bytes.subarray(0, 4)).toString('hex')
  if (begin === '89504e47') return 'image/png'
  return begin.startsWith('ffd8ff') ? 'image/jpeg' : undefined
}

const fileOf = (name: string) => (bytes: Uint8Array, n: number) => {
  const media_type = pictureType(bytes)
  return media_type && { media_type, file_name: `${name}-${n}.${media_type === 'image/png' ? 'png' : 'jpg'}` }
}

interface PictureCall {
  readonly making: Making
  readonly name: string
  readonly pictures: readonly GivenPicture[]
  /** Those of the pictures. */
  readonly asset_ids: readonly string[]
}

const makePictures = (
  parts: MakingParts,
  { prompt, size, count, provider, model }: GenerateInput,
  { call, making, name, pictures, asset_ids }: PictureCall & { readonly call: ToolCall },
): Promise<ToolOutcome> => {
  const wish: PictureWish = { prompt, size, count, pictures }
  const make = ({ maker: { pictures: able } }: Chosen, server: MediaServer): Promise<Made> => {
    if (able === undefined) throw makerErrors.media_unavailable({ details: { capability: making } })
    return able.make(wish, server)
  }
  const usual = ({ route, maker }: Chosen) => route.own_models?.image ?? maker.pictures?.model
  const made_of = asset_ids.length === 0 ? undefined : { maker: making, asset_ids }
  return makeMedia(parts, { making, provider, model, make, usual, fileOf: fileOf(name), made_of }, call)
}

/** What a model can correct is told; so is all that servers do wrong, whatever its status. */
const told = async (work: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}

const givenType = (assets: Assets, asset_id: string): GivenPicture['media_type'] => {
  const { media_type } = assets.get(asset_id)
  if (media_type !== 'image/png' && media_type !== 'image/jpeg') throw unfit(`${asset_id} is ${media_type}`)
  return media_type
}

const given = async (assets: Assets, asset_id: string): Promise<GivenPicture> => {
  const media_type = givenType(assets, asset_id)
  const opened = await assets.open(asset_id, 'raw')
  try {
    return { media_type, bytes: Buffer.concat([...opened.pieces(0, opened.bytes)]) }
  } finally {
    await opened.close()
  }
}

/** The only picture that the run was given. */
const inferred = ({ runs }: MakingParts, { run_id }: Pick<ToolCall, 'run_id'>): string => {
  const known = runs()
  const run = known?.find(run_id)
  const files = run === undefined ? [] : (known?.view(run).input_attachments ?? [])
  const pictures = files.filter(({ media_type }) => media_type === 'image/png' || media_type === 'image/jpeg')
  const [only] = pictures
  if (only === undefined || pictures.length > 1)
    throw unfit(`the input of this run has ${pictures.length} pictures, and image_asset_ids names none`)
  return only.id
}

/** Those that are to be edited. */
const idsOf = (parts: MakingParts, { image_asset_ids }: EditInput, by: Pick<ToolCall, 'run_id'>): readonly string[] => {
  const ids = image_asset_ids ?? [inferred(parts, by)]
  if (ids.length === 0) throw unfit('image_asset_ids is empty')
  return ids
}

const shared = { effect: 'once', parallel: false, timeout_ms: mostMs, sandbox: 'network_enabled' } as const

export const generateImage = (parts: MakingParts): Tool =>
  defineTool({
    ...shared,
    name: 'generate_image',
    description:
      'Makes pictures of a description and stores them as assets, whose ids it answers. Each call costs money.',
    input: GenerateInput,
    refusal: ({ provider }, by) => problemOf(() => chosenFor(parts, { making: 'image_generation', provider }, by)),
    run: (input, call) =>
      told(() =>
        makePictures(parts, input, { call, making: 'image_generation', name: 'picture', pictures: [], asset_ids: [] }),
      ),
  })

export const editImage = (parts: MakingParts): Tool =>
  defineTool({
    ...shared,
    name: 'edit_image',
    description:
      'Makes pictures of stored ones and of what is to be changed, and stores them as assets, whose ids it answers. ' +
      'Each call costs money.',
    input: EditInput,
    refusal: (input, by) =>
      problemOf(() => {
        chosenFor(parts, { making: 'image_edit', provider: input.provider }, by)
        idsOf(parts, input, by).forEach((id) => givenType(parts.assets, id))
      }),
    run: (input, call) =>
      told(async () => {
        const asset_ids = idsOf(parts, input, call)
        const pictures: GivenPicture[] = []
        for (const id of asset_ids) pictures.push(await given(parts.assets, id))
        return makePictures(parts, input, { call, making: 'image_edit', name: 'edited', pictures, asset_ids })
      }),
  })
