/** How those show a file who name it. */
import { integer, named, object, optional, doc, string, type Infer } from '../../../core/plugin.js'

/** An asset as those show it who name it: as it was when it was named. */
export const AttachmentRef = named(
  'AttachmentRef',
  object({
    id: doc(string(), 'Id of the asset.'),
    media_type: string(),
    uri: string(),
    file_name: optional(string()),
    sha256: optional(string()),
    byte_length: optional(integer({ min: 0 })),
    text_uri: optional(string()),
    text_sha256: optional(string()),
    text_byte_length: optional(integer({ min: 0 })),
    preview_image_uri: optional(string()),
    preview_image_media_type: optional(string()),
    preview_image_sha256: optional(string()),
    preview_image_byte_length: optional(integer({ min: 0 })),
  }),
)
/** The value form of `AttachmentRef`. */
export type AttachmentRef = Infer<typeof AttachmentRef>
