/** What messages are about, and which files they name. */
import { array, literal, object, parse, string, tagged, type Infer, type JsonObject } from '../../../core/plugin.js'

const id = () => string({ min: 1, max: 400 })
/** What a message may be about, beside its words. */
export const MailItem = tagged('type', {
  text: object({ type: literal('text'), text: string({ max: 32_768 }) }),
  asset_reference: object({ type: literal('asset_reference'), asset_id: id() }),
})
/** The value form of `MailItem`. */
export type MailItem = Infer<typeof MailItem>

const mostItems = 100
const Items = array(MailItem, { max: mostItems })

/** Files that a payload names, each with its place in it. */
export const placesOf = ({ asset_ids, input_items }: JsonObject): (readonly [place: string, asset_id: string])[] => {
  const files = Array.isArray(asset_ids) ? asset_ids : []
  const items = parse(Items, input_items)
  return [
    ...files.flatMap((id, at) => (typeof id === 'string' ? [[`asset_ids.${at}`, id] as const] : [])),
    ...(items.ok ? items.value : []).flatMap((item, at) =>
      item.type === 'asset_reference' ? [[`input_items.${at}`, item.asset_id] as const] : [],
    ),
  ]
}
