"""What a directory says, by language: labels of fields, submit links, sentences. Data only.

A field without a word in a language falls back to English, as half-translated sites do.
"""

from __future__ import annotations

LABELS: dict[str, dict[str, str]] = {
    "en": {
        "name": "Company name", "title": "Listing title", "url": "Website URL", "email": "Contact email",
        "contact_name": "Your full name", "first_name": "First name", "last_name": "Last name", "phone": "Phone",
        "address": "Street address", "city": "City", "postal_code": "ZIP / Postal code", "country": "Country",
        "description": "Description", "short_description": "Short description", "long_description": "Full description",
        "tagline": "Tagline", "category": "Category", "subcategory": "Sub-category", "tags": "Tags (comma separated)",
        "logo": "Logo (optional)", "terms": "I accept the terms of this directory", "pricing": "Pricing model",
        "newsletter_optin": "Send me your weekly newsletter", "founded_year": "Year founded", "fax": "Fax",
        "link_type": "Listing type", "reciprocal_url": "Page on your site that links back to us",
        "social_twitter": "Twitter / X", "social_linkedin": "LinkedIn page",
    },
    "de": {
        "name": "Firmenname", "title": "Titel des Eintrags", "url": "Webseite", "email": "E-Mail-Adresse",
        "contact_name": "Ansprechpartner", "first_name": "Vorname", "last_name": "Nachname", "phone": "Telefon",
        "address": "Straße und Hausnummer", "city": "Ort", "postal_code": "PLZ", "country": "Land",
        "description": "Beschreibung", "short_description": "Kurzbeschreibung",
        "long_description": "Ausführliche Beschreibung", "tagline": "Slogan", "category": "Rubrik",
        "subcategory": "Unterrubrik", "tags": "Schlagwörter", "logo": "Logo (freiwillig)",
        "terms": "Ich akzeptiere die Nutzungsbedingungen", "newsletter_optin": "Newsletter abonnieren",
        "pricing": "Preismodell", "link_type": "Art des Eintrags",
    },
    "fr": {
        "name": "Nom de l'entreprise", "title": "Titre de la fiche", "url": "Site internet", "email": "Adresse e-mail",
        "contact_name": "Nom du contact", "first_name": "Prénom", "last_name": "Nom de famille", "phone": "Téléphone",
        "address": "Adresse", "city": "Ville", "postal_code": "Code postal", "country": "Pays",
        "description": "Description", "short_description": "Description courte",
        "long_description": "Description détaillée", "tagline": "Slogan", "category": "Catégorie",
        "subcategory": "Sous-catégorie", "tags": "Mots-clés", "terms": "J'accepte les conditions d'utilisation",
        "newsletter_optin": "Recevoir la lettre d'information",
    },
    "es": {
        "name": "Nombre de la empresa", "title": "Título del anuncio", "url": "Sitio web",
        "email": "Correo electrónico", "contact_name": "Persona de contacto", "first_name": "Nombre",
        "last_name": "Apellidos", "phone": "Teléfono", "address": "Dirección", "city": "Ciudad",
        "postal_code": "Código postal", "country": "País", "description": "Descripción",
        "short_description": "Descripción breve", "long_description": "Descripción completa", "tagline": "Eslogan",
        "category": "Categoría", "subcategory": "Subcategoría", "tags": "Etiquetas",
        "terms": "Acepto las condiciones de uso", "newsletter_optin": "Quiero recibir el boletín",
    },
    "ja": {
        "name": "会社名", "title": "掲載タイトル", "url": "ＵＲＬ", "email": "メールアドレス",
        "contact_name": "担当者名", "first_name": "名", "last_name": "姓", "phone": "電話番号", "address": "住所",
        "city": "市区町村", "postal_code": "郵便番号", "country": "国", "description": "紹介文",
        "short_description": "短い紹介文", "long_description": "詳しい紹介文", "tagline": "キャッチコピー",
        "category": "カテゴリー", "tags": "タグ", "terms": "利用規約に同意します",
        "newsletter_optin": "メールマガジンを受け取る",
    },
}  # fmt: skip

SUBMIT_LINKS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Submit your site", "/submit"), ("Add your site", "/add-site"), ("Suggest a tool", "/suggest"),
        ("Get listed", "/get-listed"), ("Add your business", "/add-business"), ("Submit a startup", "/submit-startup"),
        ("List your product", "/products/new"), ("Advertise", "/advertise"),
        ("Recommend a website", "/recommend.php"), ("Submit URL", "/addurl.html"),
    ),
    "de": (("Eintragen", "/eintragen"), ("Firma kostenlos anmelden", "/anmelden"), ("Seite vorschlagen", "/vorschlag")),
    "fr": (("Proposer un site", "/proposer"), ("Ajouter votre entreprise", "/ajouter"), ("Inscription", "/inscrire")),
    "es": (("Publica tu empresa", "/publica"), ("Añade tu sitio", "/anadir"), ("Sugerir web", "/sugerir")),
    "ja": (("サイトを登録する", "/touroku"), ("掲載申請", "/shinsei")),
}  # fmt: skip

LISTING_PATHS: tuple[str, ...] = ("/listing/", "/tools/", "/company/", "/site/", "/startups/", "/p/")

SENTENCES: dict[str, dict[str, str]] = {
    "en": {
        "own": "{name} was founded in {year} and holds {count} entries today.",
        "send": "Submit", "search": "Search", "home": "Home", "latest": "Latest listings", "categories": "Categories",
        "visit": "Visit website", "published": "Thank you! Your site has been added to the directory.",
        "pending": "Thank you! Your submission was received and will be reviewed by our editors.",
        "email": "Almost done: please confirm your e-mail address with the link we have just sent you.",
        "view": "View your listing", "required": "{label} is required.", "invalid": "{label} is not valid.",
        "long": "{label} is too long: at most {limit} characters.",
        "short": "{label} is too short: at least {limit} characters.",
        "duplicate": "This website is already in the directory.",
        "paid": "You chose a paid listing. Continue to payment.",
        "captcha": "The security check was not correct.", "expired": "This page has expired. Please start again.",
        "closed": "Submissions are closed. We do not accept new entries at this time.",
        "processing": "The same submission is being processed.", "results": "Results for", "none": "Nothing found.",
        "problems": "Please correct the following:", "fill": "Tell us about your website. A free listing stays free.",
    },
    "de": {
        "own": "{name} besteht seit {year} und umfasst heute {count} Einträge.",
        "send": "Absenden", "search": "Suchen", "home": "Startseite", "latest": "Neueste Einträge",
        "categories": "Rubriken", "visit": "Zur Webseite",
        "published": "Vielen Dank! Ihr Eintrag wurde veröffentlicht.",
        "pending": "Vielen Dank! Ihr Eintrag ist eingegangen und wird von der Redaktion geprüft.",
        "view": "Eintrag ansehen", "required": "{label}: Bitte ausfüllen.", "invalid": "{label} ist ungültig.",
        "long": "{label} ist zu lang: höchstens {limit} Zeichen.",
        "short": "{label} ist zu kurz: mindestens {limit} Zeichen.",
        "duplicate": "Diese Webseite ist bereits eingetragen.", "results": "Treffer für", "none": "Nichts gefunden.",
        "problems": "Bitte korrigieren Sie:", "fill": "Tragen Sie Ihre Firma kostenlos ein.",
    },
    "fr": {
        "own": "{name} existe depuis {year} et compte aujourd'hui {count} fiches.",
        "send": "Envoyer", "search": "Rechercher", "home": "Accueil", "latest": "Dernières fiches",
        "categories": "Catégories", "visit": "Visiter le site",
        "published": "Merci ! Votre site a été ajouté à l'annuaire.",
        "pending": "Merci ! Votre proposition a bien été reçue et sera examinée par notre équipe.",
        "view": "Voir votre fiche", "required": "{label} : champ obligatoire.", "invalid": "{label} n'est pas valide.",
        "long": "{label} est trop long : {limit} caractères au maximum.",
        "short": "{label} est trop court : {limit} caractères au minimum.",
        "duplicate": "Ce site figure déjà dans l'annuaire.", "results": "Résultats pour", "none": "Aucun résultat.",
        "problems": "Merci de corriger :", "fill": "Présentez votre site. L'inscription est gratuite.",
    },
    "es": {
        "own": "{name} existe desde {year} y reúne hoy {count} anuncios.",
        "send": "Enviar", "search": "Buscar", "home": "Inicio", "latest": "Últimos anuncios",
        "categories": "Categorías", "visit": "Visitar sitio web",
        "published": "¡Gracias! Su sitio se ha añadido al directorio.",
        "pending": "¡Gracias! Hemos recibido su solicitud y la revisaremos pronto.",
        "view": "Ver su anuncio", "required": "{label}: campo obligatorio.", "invalid": "{label} no es válido.",
        "long": "{label} es demasiado largo: máximo {limit} caracteres.",
        "short": "{label} es demasiado corto: mínimo {limit} caracteres.",
        "duplicate": "Este sitio ya está en el directorio.", "results": "Resultados para", "none": "Sin resultados.",
        "problems": "Corrija lo siguiente:", "fill": "Háblenos de su empresa. El registro es gratuito.",
    },
    "ja": {
        "own": "{name}は{year}年に始まり、現在{count}件を掲載しています。",
        "send": "送信する", "search": "検索", "home": "ホーム", "latest": "新着サイト", "categories": "カテゴリー",
        "visit": "サイトを見る", "published": "ありがとうございます。サイトが登録されました。",
        "pending": "ありがとうございます。申請を受け付けました。審査後に掲載されます。",
        "view": "掲載ページを見る", "required": "{label}は必須です。", "invalid": "{label}が正しくありません。",
        "long": "{label}は{limit}文字以内で入力してください。", "short": "{label}は{limit}文字以上で入力してください。",
        "duplicate": "このサイトはすでに登録されています。", "results": "検索結果：", "none": "見つかりませんでした。",
        "problems": "次の項目を修正してください。", "fill": "サイトの情報を入力してください。掲載は無料です。",
    },
}  # fmt: skip


def label(language: str, field: str) -> str:
    """The word for a field in a language, else in English, else the field's own name."""
    english = LABELS["en"].get(field, field.replace("_", " ").capitalize())
    return LABELS.get(language, {}).get(field, english)


def say(language: str, key: str, **values: object) -> str:
    """A sentence in a language, else in English. KeyError for a key that no language has."""
    sentence = SENTENCES.get(language, {}).get(key) or SENTENCES["en"][key]
    return sentence.format(**values) if values else sentence
