/** Files that messages carry (telegram-12). */
import { hash } from 'node:crypto'
import type { JsonObject } from '../../../../core/plugin.js'
import type { TelegramMessage, TelegramPhoto } from './update.js'

/** A file of a message, before it is there. */
export interface TelegramFile {
  readonly file_id: string
  readonly file_name: string
  /** As the platform was told by whoever sent it; absent where nobody said. */
  readonly media_type?: string
  readonly file_size?: number
}

const plainId = /^[A-Za-z0-9_-]{1,150}$/u
/** Ids go into names: one that is more than an id gives way to its digest. */
const wordOf = (file_id: string): string => (plainId.test(file_id) ? file_id : hash('sha256', file_id).slice(0, 32))

const areaOf = ({ file_size, width, height }: TelegramPhoto): number => file_size ?? (width ?? 0) * (height ?? 0)
const largest = (photos: readonly TelegramPhoto[]): TelegramPhoto | undefined =>
  photos.reduce<TelegramPhoto | undefined>(
    (best, photo) => (best === undefined || areaOf(photo) > areaOf(best) ? photo : best),
    undefined,
  )

/** Characters of a name that somebody gave a file. */
const mostName = 200
const asName = (name: string | null | undefined): string => {
  const text = (name ?? '').replaceAll(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, '_').trim()
  return text === '' ? 'telegram-document.bin' : Array.from(text).slice(0, mostName).join('')
}
const typePattern = /^[a-z0-9][a-z0-9.+-]{0,100}\/[a-z0-9][a-z0-9.+-]{0,100}$/u
const asType = (type: string | null | undefined): string | undefined => {
  const [plain = ''] = (type ?? '').toLowerCase().split(';')
  return typePattern.test(plain.trim()) ? plain.trim() : undefined
}

const sized = (file_size: number | null | undefined) =>
  file_size === undefined || file_size === null ? {} : { file_size }

/** The document of a message and its largest photo, in that order. */
export const filesOf = ({ document, photo }: TelegramMessage): TelegramFile[] => {
  const best = largest(photo ?? [])
  const media_type = asType(document?.mime_type)
  return [
    ...(document === undefined || document === null
      ? []
      : [
          {
            file_id: document.file_id,
            file_name: asName(document.file_name),
            ...(media_type !== undefined && { media_type }),
            ...sized(document.file_size),
          },
        ]),
    ...(best === undefined
      ? []
      : [
          {
            file_id: best.file_id,
            file_name: `telegram-photo-${wordOf(best.file_id)}.jpg`,
            media_type: 'image/jpeg',
            ...sized(best.file_size),
          },
        ]),
  ]
}

/** As it is kept with its event. */
export const fileRecord = ({ file_id, file_name, media_type, file_size }: TelegramFile): JsonObject => ({
  file_id,
  file_name,
  ...(media_type !== undefined && { media_type }),
  ...(file_size !== undefined && { file_size }),
})
