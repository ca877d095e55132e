# ruff: noqa: E501 (a pattern reads better on one line)
"""What forms say in words: limits, "required", log in, pay, closed, refuse. Patterns as data, in the languages directories use."""

from __future__ import annotations

import re

_CHARS = (
    r"(?:characters?|chars?\b|symbols?|letters?|zeichen|buchstaben|caract[eè]res?|signes?|car[aá]cteres|caratteri|tekens|znak(?:[oó]w|i|u)?\b"
    r"|karakter(?:ler|i|en)?|文字|字符|个字|個字|字(?!段)|символ\w*|знак\w*)"
)
_NUM = r"(\d{1,3}(?:[., ]\d{3})+|\d{1,6})"
_MAX = (
    r"(?:max(?:imum|imal|imo|ima|\.)?|up to|at most|no more than|not more than|less than|limit(?:ed)?(?: to)?|under|within"
    r"|bis zu|h[oö]chstens|jusqu'?[àa]|au plus|hasta|no m[aá]s de|at[eé]|fino a|al massimo|massimo|m[aá]ximo|m[aá]x\.?|tot|hoogstens|maks(?:imum|\.|ymalnie)?"
    r"|do|en fazla|en [cç]ok|最大|最多|不超过|не более|до|макс\.?)"
)

MAXIMUM = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MAX}\s*(?:of|von|de|di|van)?\s*[:=]?\s*\(?\s*{_NUM}\s*{_CHARS}",
        rf"{_NUM}\s*(?:{_CHARS})\s*(?:or (?:less|fewer)|max(?:imum|imal|imo|ima|\.)?|m[aá]x(?:imo|ima|\.)?|m[aá]ximo|limit|left|remaining|allowed|verbleibend|[uü]brig"
        rf"|massimo|restants?|maks(?:imum|\.)?|以内|以下|まで)",
        rf"{_NUM}\s*(?:文字|字)\s*(?:以内|以下|まで)",
        rf"(?<!\d)0\s*/\s*{_NUM}(?!\d|\s*/)",
        rf"\d{{1,5}}\s*(?:-|–|to|bis|à|a|～|~|and)\s*{_NUM}\s*{_CHARS}",
        rf"^\W*\(?\s*{_NUM}\s*(?:{_CHARS})\s*\)?\W*$",
        rf"{_MAX}\s*(?:length|l[aä]nge|longueur)\s*(?:is|of|:)?\s*{_NUM}",
        rf"(?:limit|max(?:imum)?)\s*[:=]\s*{_NUM}\b(?!\s*(?:kb|mb|px|words?|mo\b|tags?|%|€|\$))",
    )
)
"""Each names one number: the most characters that a control takes."""

MAXIMUM_WORDS = re.compile(
    rf"{_MAX}\s*(?:of)?\s*{_NUM}\s*words?\b|{_NUM}\s*words?\s*(?:or (?:less|fewer)|max(?:imum)?|limit)",
    re.IGNORECASE,
)
CHARACTERS_PER_WORD = 4
"""A cautious count: a text of so many characters a word has no more words than allowed."""

MINIMUM = re.compile(
    rf"(?:min(?:imum|destens|imal|\.)?|at least|mindestens|au moins|al menos|m[ií]nimo|pelo menos|almeno|minimaal|ten minste|co najmniej|en az|最低|至少|не менее)"
    rf"\s*(?:of|de)?\s*[:=]?\s*{_NUM}\s*{_CHARS}|{_NUM}\s*(?:-|–|to|bis|à|～|~)\s*\d{{1,6}}\s*{_CHARS}",
    re.IGNORECASE,
)

STAR = re.compile(r"(?:^|(?<!\d)[\s\w)\]:?])[*＊✱](?=\s|$|[:：(])|^\s*[*＊✱]|※")
STAR_NOTE = re.compile(
    r"fields?\s+(?:marked|with)|denotes|indicates|(?:required|mandatory) fields?|mit \*|marqu[ée]s|marcados|obbligatori\b",
    re.IGNORECASE,
)
REQUIRED = re.compile(
    r"\((?:required|mandatory|obligatoire|obligatorio|obrigat[oó]rio|obbligatorio|erforderlich|verplicht|wymagane|zorunlu)\)"
    r"|\b(?:required|mandatory|pflichtfeld|obligatoire|obligatorio|obrigat[oó]rio|obbligatorio|verplicht|wymagane|zorunlu)\b|必須|必填|обязательно",
    re.IGNORECASE,
)
OPTIONAL = re.compile(
    r"\b(?:optional|not required|optionnel|facultatif|opcional|facoltativo|optioneel|opcjonaln\w+|iste[gğ]e ba[gğ]l[ıi]|freiwillig|if (?:any|available|applicable))\b"
    r"|任意|选填|необязательно",
    re.IGNORECASE,
)
REQUIRED_CLASS = re.compile(
    r"(?:^|[\s_-])(?:required|mandatory|is-required|field-required|validate-required)(?:$|[\s_-])|validate\[[^\]]*required",
    re.IGNORECASE,
)

ARITHMETIC = re.compile(
    r"(?<![\w$€£.,])\d{1,3}\s*(?:[+\-−–x×*÷]|plus|minus|times|und|mal)\s*\d{1,3}\s*(?:=|\?|$)|what (?:is|does) \d+ ?(?:[+x*-]|plus|minus|times)",
    re.IGNORECASE,
)
CAPTCHA_QUESTION = re.compile(
    r"captcha|security (?:code|question|check)|verification code|anti-?spam|prove (?:that )?you(?:'re| are) (?:a )?human|are you (?:a )?human"
    r"|(?:type|enter|copy) the (?:code|characters|letters|text|word|numbers?)|sicherheits(?:code|frage|abfrage)|spamschutz|code de s[eé]curit[eé]|c[oó]digo de seguridad"
    r"|codice di sicurezza|g[uü]venlik kodu|画像認証|认证码|验证码|код с картинки|sicherheitscode",
    re.IGNORECASE,
)

LOGIN = re.compile(
    r"(?:you (?:must|need to|have to)|please) (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in|register|create an account)"
    r"|(?:log|sign) ?in (?:is )?(?:required|to (?:submit|add|post|list|continue))|login required|members only"
    r"|bitte (?:melden sie sich an|einloggen|anmelden)|(?:connectez|identifiez)-vous pour|inicia sesi[oó]n para|fa[cç]a login para|accedi per|ログインしてください|请先?登录|войдите,? чтобы",
    re.IGNORECASE,
)
CLOSED = re.compile(
    r"submissions? (?:are|is) (?:currently |temporarily |now )?(?:closed|paused|disabled|suspended)|(?:no longer|not(?: currently)?) accept(?:ing)? (?:new )?(?:submissions|listings|entries)"
    r"|(?:closed|paused) (?:for|to) (?:new )?(?:submissions|listings|entries)|submissions? (?:re-?open|will open)|keine neuen eintr[aä]ge|受付を終了",
    re.IGNORECASE,
)
PAY_BUTTON = re.compile(
    r"\b(?:pay|checkout|purchase|buy now|proceed to payment|kaufen|jetzt zahlen|payer|pagar)\b|[$€£]\s?\d",
    re.IGNORECASE,
)

REFUSE_COOKIES = (
    r"^(?:(?:reject|decline|refuse|deny|disagree|disallow)(?: (?:all|optional|non-essential|additional|cookies|everything|and close))*(?: cookies)?"
    r"|(?:only|accept only|use only|allow only)? ?(?:strictly )?(?:necessary|essential|required)(?: cookies)?(?: only)?|i (?:do not|don't) (?:accept|agree|consent)|continue without (?:accepting|agreeing|consent)"
    r"|(?:alle )?(?:cookies )?ablehnen|nur (?:notwendige|erforderliche|essenzielle)\b.*|(?:tout|tous) refuser|refuser(?: tout)?|continuer sans accepter|rechazar(?: todas?| todo| cookies)*|rifiuta(?: tutti| tutto)?"
    r"|rejeitar(?: todos?| tudo)?|recusar|(?:alles )?weigeren|alle(?:en)? noodzakelijke?.*|odrzu[cć].*|reddet|t[uü]m[uü]n[uü] reddet|拒否(?:する)?|すべて拒否|拒绝|全部拒绝|отклонить.*|no,? thanks?)\W*$"
)
CLOSE = (
    r"^(?:[×✕✖xX╳⨯]|close(?: (?:dialog|modal|popup|banner|window|this))?|dismiss|no,? thanks?(?: you)?|not now|maybe later|later|skip|schlie(?:ß|ss)en|nein,? danke|fermer|non merci|cerrar|no,? gracias|fechar|n[aã]o,? obrigado"
    r"|chiudi|no,? grazie|sluiten|nee,? bedankt|zamknij|kapat|閉じる|关闭|закрыть)\W*$"
)
COOKIE_WORDS = r"cookie|consent|gdpr|datenschutz|privacy|confidentialit|privacidad|クッキー|çerez|隐私"


def number(text: str) -> int:
    """`1,000`, `1.000` and `1000` as a number."""
    return int(re.sub(r"\D", "", text))
