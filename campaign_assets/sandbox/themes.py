"""What the sandbox's directories are about: prose, categories and the invented businesses they list already.

Data, and two small readers of it. The prose differs enough between themes for a relevance score to tell them apart.
"""

from __future__ import annotations

from campaign_assets.sandbox.parts import Business, Theme, slug


def _listed(*rows: tuple[str, str]) -> tuple[Business, ...]:
    return tuple(
        Business(name, f"https://{slug(name).replace('-', '')}.example/", sentence) for name, sentence in rows
    )


_SOFTWARE = _listed(
    ("Tallyfox", "Invoices and time sheets for studios of up to twenty people."),
    ("Quillharbor", "A shared notebook for support teams that answers the repeated questions."),
    ("Pingmeadow", "Uptime checks from eleven cities, with a public status page."),
    ("Lumenledger", "Bookkeeping software that reads receipts and reconciles bank feeds."),
    ("Formsparrow", "Online forms with file uploads, payments and webhooks."),
    ("Deskorchard", "Room and desk booking for offices that share their space."),
    ("Snapkiln", "Screenshots of any web page by one API call."),
    ("Mailthistle", "Newsletters in plain text, with honest opening rates."),
    ("Gridplover", "A spreadsheet that behaves like a database and keeps its history."),
    ("Cronbadger", "Scheduled jobs with retries, logs and a phone call when they fail."),
    ("Briarboard", "Kanban boards for client projects, with approvals."),
    ("Oatmetrics", "Privacy-friendly web analytics without cookies, for product and marketing teams."),
)
_MODELS = _listed(
    ("Parrotloom", "Turns meeting recordings into minutes with decisions and owners."),
    ("Visionpear", "Finds defects on product photos with a vision model trained on your own images."),
    ("Draftotter", "Writes product descriptions from a data sheet and checks every number."),
    ("Askheron", "A chatbot that answers from your documentation and cites the paragraph."),
    ("Codemarten", "Reviews pull requests and explains the risky lines."),
    ("Voicefinch", "Text to speech in thirty languages for audio guides."),
    ("Promptgarden", "Versions, tests and compares prompts across language models."),
    ("Sortvole", "Routes support tickets with a small classifier that runs on your server."),
    ("Datacurlew", "Labels data sets with active learning and two reviewers."),
    ("Summawren", "Summaries of long reports, with a link to each source sentence."),
    ("Agentstoat", "Automates back-office workflows with supervised AI agents."),
    ("Pixelnewt", "Removes backgrounds and relights photos in the browser."),
)
_SHOPS = _listed(
    ("Kettle and Crumb", "Bakery and coffee room on the old market square, open from six."),
    ("Northgate Plumbing", "Boilers, bathrooms and emergency repairs, day and night."),
    ("Larkfield Dental", "Family dentists with evening appointments and parking."),
    ("Hollis and Daughters", "Joiners: stairs, windows and shop fittings in oak and ash."),
    ("Greenway Cycles", "Bicycles sold, repaired and rented by the week."),
    ("Marlow Accounting", "Tax returns and payroll for shops, trades and small firms."),
    ("The Paper Lantern", "Noodle kitchen with thirty seats and a garden."),
    ("Stonebridge Vets", "Small animals, home visits and a night line."),
    ("Brightwash Laundry", "Wash, iron and delivery for hotels and households."),
    ("Ferryman Removals", "House moves, storage and piano transport."),
    ("Copperleaf Florist", "Flowers for weddings and funerals, delivered within the county."),
    ("Eastend Driving School", "Lessons in manual and automatic cars, theory on Tuesdays."),
)
_BETRIEBE = _listed(
    ("Rechenwerk Süd", "Software für Lohnabrechnung und Zeiterfassung im Mittelstand."),
    ("Tischlerei Ahorn", "Möbel und Treppen nach Maß aus heimischem Holz."),
    ("Wolkenregal", "Cloudspeicher aus deutschen Rechenzentren für Praxen und Kanzleien."),
    ("Bürohelden Nord", "Digitale Buchhaltung und Belegerfassung für Selbständige."),
    ("Kanzlei Birnbaum", "Steuerberatung für Gründer und kleine Unternehmen."),
    ("Terminfuchs", "Online-Terminbuchung für Friseure, Praxen und Werkstätten."),
    ("Druckerei Lindenhof", "Broschüren, Plakate und Etiketten in kleiner Auflage."),
    ("Datenkompass", "Auswertungen und Berichte aus Warenwirtschaft und Onlineshop."),
    ("Solarhof Meier", "Photovoltaik von der Planung bis zur Wartung."),
    ("Lagerlotse", "Lagerverwaltung mit Scanner für Händler mit bis zu drei Standorten."),
    ("Fahrradwerk Elbe", "Lastenräder für Betriebe, mit Leasing und Wartung."),
    ("Angebotsmeister", "Angebote und Rechnungen für das Handwerk, auch unterwegs."),
)
_SOCIETES = _listed(
    ("Atelier Mimosa", "Création de sites et d'identités visuelles pour artisans."),
    ("Comptaclair", "Logiciel de comptabilité en ligne pour indépendants et petites entreprises."),
    ("Boulangerie du Phare", "Pain au levain et viennoiseries, livraison le matin."),
    ("Nuage Breton", "Hébergement et sauvegarde en France pour associations."),
    ("Facturel", "Devis et factures conformes, avec relances automatiques."),
    ("Menuiserie Aubier", "Escaliers, fenêtres et agencements en bois massif."),
    ("Planithé", "Prise de rendez-vous en ligne pour instituts et cabinets."),
    ("Analytix Loire", "Tableaux de bord et analyse de données pour le commerce."),
    ("Vélo Garonne", "Location et réparation de vélos pour entreprises."),
    ("Recrutéa", "Gestion des candidatures pour les PME."),
)
_EMPRESAS = _listed(
    ("Facturalia Sur", "Programa de facturación en línea para autónomos y pequeñas empresas."),
    ("Taller Olivo", "Muebles a medida y restauración en madera."),
    ("Nube Clara", "Alojamiento web y copias de seguridad con soporte en español."),
    ("Citafácil Norte", "Reserva de citas para clínicas, talleres y peluquerías."),
    ("Datos Marina", "Análisis de ventas y cuadros de mando para comercios."),
    ("Panadería La Espiga", "Pan de masa madre y repostería, reparto diario."),
    ("Gestoría Roble", "Impuestos, nóminas y contabilidad para negocios locales."),
    ("Almacén Listo", "Control de inventario y pedidos para tiendas en línea."),
    ("Solar Levante", "Placas solares para casas y naves, con mantenimiento."),
    ("Aula Abierta", "Plataforma de cursos y formación para empresas."),
)
_KAISHA = _listed(
    ("青空ソフト", "中小企業向けのクラウド会計と請求書作成サービス。"),
    ("みどり予約", "美容室や医院のためのオンライン予約システム。"),
    ("はやて配送", "地域の店舗のための当日配送サービス。"),
    ("さくら分析", "ウェブサイトと売上のデータ分析ツール。"),
    ("木の香工房", "無垢材の家具と建具の製作。"),
    ("つばめ勤怠", "勤怠管理と給与計算のソフトウェア。"),
    ("灯台サポート", "問い合わせ対応を自動化するＡＩチャット。"),
    ("ことり印刷", "小部数の冊子と名刺の印刷。"),
)
_YARNS = _listed(
    ("Purl and Pebble", "Hand-dyed sock yarn from a garden shed in small batches."),
    ("Moorland Fleece", "Raw fleece and rovings from a flock of forty Shetland sheep."),
    ("The Cabled Cardigan", "A blog of Aran patterns with charts and corrections."),
    ("Bobbin Hill", "Spinning wheels repaired and drive bands cut to length."),
    ("Granny Squared", "Crochet squares, one new stitch pattern every Sunday."),
    ("Selvedge Row", "Weaving drafts for four-shaft looms."),
    ("Needle Post", "Second-hand knitting needles, sorted by gauge."),
    ("Lace and Lichen", "Shawl patterns and natural dyes from moss and onion skins."),
)
_DEPARTED = _listed(
    ("Fridgely", "Shut down 2019: a refrigerator that ordered its own milk. Burned nine million."),
    ("Parkpal", "Shut down 2021: parking-space sharing that no landlord allowed."),
    ("Soupstream", "Shut down 2018: soup by subscription; the lids leaked."),
    ("Dronezza", "Shut down 2020: pizza by drone, grounded after a week."),
    ("Napbox", "Shut down 2022: sleeping pods for malls, out of money in ten months."),
    ("Chattersocks", "Shut down 2017: socks with a social network."),
    ("Umbrellio", "Shut down 2019: umbrella rental; every umbrella was lost."),
    ("Yodelpay", "Shut down 2023: payments by voice; the pilot paid strangers."),
)

THEMES: dict[str, Theme] = {
    "startups": Theme(
        "startups",
        "en",
        "New startups and the software tools they make, every day",
        (
            "{name} introduces new startups to the people who try things first. Founders describe their product in"
            " their own words, our editors check that the website works, and readers decide what is worth a visit.",
            "Most of what you find here is software: web applications, developer tools, analytics, marketing and"
            " productivity products made by small teams. We like launches that show the price and the product.",
            "A listing carries the company's name, a description, its category and a link to the website. It stays"
            " for as long as the product does. There is no ranking to buy.",
            "Every week the newest startup tools go out to makers, agencies and small businesses that look for"
            " software to run their company, measure their marketing and serve their customers.",
        ),
        (
            "Analytics",
            "Marketing",
            "Productivity",
            "Developer tools",
            "Finance",
            "Customer support",
            "Design",
        ),
        _SOFTWARE,
    ),
    "ai": Theme(
        "ai",
        "en",
        "The catalogue of artificial intelligence tools for daily work",
        (
            "{name} collects AI tools that do a real job: assistants, automation, text, image and voice models, and"
            " software that puts machine learning into the daily work of a business.",
            "Each tool is tried by a person before it appears. We note what it costs, which model it is built on"
            " where the maker says so, and what happens to the data you give it.",
            "Use the categories to find AI for marketing, analytics, customer support, writing, research or code."
            " The search knows names and descriptions of all tools.",
            "Makers can suggest a tool at no cost. Software that only promises artificial intelligence on a waiting"
            " list page is not listed.",
        ),
        ("Writing", "Analytics", "Automation", "Image", "Voice", "Customer support", "Research", "Marketing"),
        _MODELS,
    ),
    "saas": Theme(
        "saas",
        "en",
        "Business software compared by people who use it",
        (
            "{name} is a directory of cloud software for small and medium businesses. Buyers compare products for"
            " analytics, accounting, customer support, marketing and project management side by side.",
            "Vendors of SaaS products are welcome: describe what the software does, for whom, and how it is priced."
            " Free plans and free trials are marked, because they are the first thing that buyers ask for.",
            "We do not sell leads and we do not gate reviews. A product page links to the vendor's website, and"
            " that is where a buyer should read on.",
            "Our readers run agencies, shops and service companies. They look for dashboards, reporting, invoicing"
            " and automation that work without an IT department.",
        ),
        (
            "Analytics",
            "Accounting",
            "Marketing",
            "Project management",
            "Customer support",
            "Reporting",
            "Sales",
        ),
        _SOFTWARE,
    ),
    "local": Theme(
        "local",
        "en",
        "Find a local business that answers the phone",
        (
            "{name} lists companies, shops and trades by town and by what they do. Every entry has an address, a"
            " telephone number and a website, and it is checked once a year.",
            "Local businesses and service companies add their own entry: name, address, phone, e-mail, opening"
            " hours and a short description of their services.",
            "Professional services are a growing part of the directory: accountants, marketing agencies, software"
            " and IT companies, consultants and designers serve customers far beyond their own street.",
            "Customers search by service and place. A complete business profile with a description and the same"
            " name, address and phone everywhere is found more easily.",
        ),
        ("Professional services", "Software & IT", "Trades", "Food & drink", "Health", "Shops", "Marketing"),
        _SHOPS,
    ),
    "german": Theme(
        "german",
        "de",
        "Das Verzeichnis für Unternehmen und Software aus dem Mittelstand",
        (
            "{name} verzeichnet Unternehmen, Software und Dienstleister für den Mittelstand. Jeder Eintrag wird von"
            " Hand geprüft, nennt eine Webseite und beschreibt in einigen Sätzen, was die Firma anbietet.",
            "Viele Besucher suchen Software für Buchhaltung, Auswertung, Marketing und Kundendienst. Anbieter aus"
            " dem In- und Ausland können sich kostenlos eintragen.",
            "Ein Eintrag besteht aus Firmenname, Webseite, Beschreibung und Rubrik. Er bleibt bestehen, solange die"
            " Webseite erreichbar ist. Bezahlte Plätze gibt es nicht.",
            "Die Redaktion freut sich über Produkte, die auch kleinen Betrieben helfen: Analyse, Berichte,"
            " Rechnungen und Automatisierung ohne eigene IT-Abteilung.",
        ),
        ("Software", "Analyse und Berichte", "Marketing", "Buchhaltung", "Handwerk", "Beratung"),
        _BETRIEBE,
    ),
    "french": Theme(
        "french",
        "fr",
        "L'annuaire des logiciels et des entreprises de service",
        (
            "{name} rassemble des logiciels et des entreprises de service utiles aux indépendants et aux PME. Chaque"
            " fiche est relue par un membre de l'équipe avant sa publication.",
            "Les visiteurs cherchent des outils d'analyse, de comptabilité, de marketing et de relation client. Une"
            " bonne description explique ce que fait le produit et pour qui.",
            "L'inscription est gratuite. Une fiche contient le nom de l'entreprise, son site, une description et une"
            " catégorie.",
        ),
        ("Logiciels", "Analyse de données", "Marketing", "Comptabilité", "Artisanat", "Conseil"),
        _SOCIETES,
    ),
    "spanish": Theme(
        "spanish",
        "es",
        "El directorio de empresas y programas para negocios",
        (
            "{name} reúne empresas y programas para negocios pequeños y medianos. Revisamos cada anuncio a mano"
            " antes de publicarlo.",
            "Nuestros visitantes buscan software de análisis, facturación, marketing y atención al cliente. Una"
            " buena descripción cuenta qué hace el producto y para quién es.",
            "Publicar es gratuito: nombre de la empresa, sitio web, descripción y categoría.",
        ),
        ("Software", "Análisis de datos", "Marketing", "Facturación", "Oficios", "Asesoría"),
        _EMPRESAS,
    ),
    "japanese": Theme(
        "japanese",
        "ja",
        "ビジネスソフトと企業のディレクトリ",
        (
            "{name}は、中小企業に役立つソフトウェアとサービスを紹介するディレクトリです。掲載前に編集部が確認します。",
            "分析、会計、マーケティング、カスタマーサポートのツールを探す方にご利用いただいています。",
            "掲載は無料です。会社名、ウェブサイト、紹介文、カテゴリーを入力してください。",
        ),
        ("ソフトウェア", "データ分析", "マーケティング", "会計", "サービス"),
        _KAISHA,
    ),
    "knitting": Theme(
        "knitting",
        "en",
        "Yarn, fleece and patterns: the web ring of knitters and spinners",
        (
            "{name} is a ring of hobby pages about knitting, crochet, spinning and weaving. Members swap patterns,"
            " yarn and sheep gossip, and visit each other's blogs on Sundays.",
            "We list blogs and hand-made yarn only. Patterns for cardigans, socks and lace shawls are our pride; a"
            " page about wool and needles is always welcome.",
            "The spring fleece market lists shepherds with raw fleece, and the dye garden has its own corner for"
            " madder, woad and onion skins.",
        ),
        ("Sock yarn", "Lace patterns", "Spinning wheels", "Crochet", "Fleece"),
        _YARNS,
    ),
    "failed": Theme(
        "failed",
        "en",
        "The graveyard of failed startups",
        (
            "{name} remembers startups that shut down. Every entry is a post-mortem: what the company tried, how"
            " much it burned, when it died and what its founders learned.",
            "Only dead companies are listed. If a startup still answers its mail it does not belong here; bankruptcy,"
            " a closed website and an honest obituary are what our editors ask for.",
            "Readers come for the failures: the pivots that came too late, the runway that ended, the products that"
            " nobody wanted.",
        ),
        ("Ran out of money", "No market", "Founders left", "Legal trouble"),
        _DEPARTED,
    ),
}

BUSINESSES: dict[str, Business] = {
    business.host: business for theme in THEMES.values() for business in theme.listed
}
"""Every invented business by its host; these hosts play a business's own website, not a directory."""
